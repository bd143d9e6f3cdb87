/* gasnetrun_pinwire --bind: the dispatcher runs on CPUs that no rank is bound to, while there are any. With one rank. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <sched.h>

#include "../job_test.h"

/* The id of the thread of this name; 0: there is none. */
static int thread_called(const char *wanted) {
  int found = 0;
  DIR *tasks = opendir("/proc/self/task");
  EXPECT(tasks != NULL);
  for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
    char path[300], name[64] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
    FILE *file = fopen(path, "r");
    if (file == NULL) continue;
    if (fscanf(file, "%63s", name) == 1 && strcmp(name, wanted) == 0) found = atoi(task->d_name);
    fclose(file);
  }
  closedir(tasks);
  return found;
}

int main(int argc, char **argv) {
  cpu_set_t mine, its, shared;
  start_job(&argc, &argv, NULL, 0, GASNET_PAGESIZE);
  const char *free_cpus = gasnet_getenv("GASNET_JOB_FREE_CPUS");
  EXPECT(free_cpus != NULL);
  const int dispatcher = thread_called("dispatcher");
  EXPECT(dispatcher != 0);
  EXPECT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
  EXPECT_EQ(sched_getaffinity(dispatcher, sizeof its, &its), 0);
  if (*free_cpus == 0) {
    EXPECT(CPU_EQUAL(&mine, &its));
    printf("dispatcher_place: --bind leaves no CPU over here\n");
    gasnet_exit(77);
  }
  EXPECT(CPU_COUNT(&its) != 0);
  CPU_AND(&shared, &mine, &its);
  EXPECT_EQ(CPU_COUNT(&shared), 0);
  end_job("dispatcher_place");
}
