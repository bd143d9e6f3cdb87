/* A shared object that a program opens. */
int of_the_plug_in(void);
int of_the_plug_in(void) { return 1; }
