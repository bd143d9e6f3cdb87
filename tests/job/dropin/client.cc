// A client as C++ programs are: exceptions, streams and containers of its own runtime beside the
// library's, and a name that is mangled like one inside the library.
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>

#include "gasnet.h"

namespace pinwire {
std::string engine = "mine";
}

namespace {

volatile int answers = 0;

int parse(const std::string& text) {
  if (text.empty()) throw std::invalid_argument("empty");
  return std::stoi(text);  // throws inside libstdc++
}

void ask(gasnet_token_t token, gasnet_handlerarg_t x) {
  int caught = 0;
  try {
    parse("no number");
  } catch (const std::exception&) {
    caught = 1;
  }
  gasnet_AMReplyShort1(token, 201, x + caught);
}
void answer(gasnet_token_t, gasnet_handlerarg_t x) { answers = x; }

uintptr_t touched = 0;
void touch(void*, uintptr_t bytes) { touched += bytes; }

}  // namespace

void (*gasnet_client_attach_hook)(void*, uintptr_t) = touch;  // ... or that they define

int main(int argc, char** argv) {
  gasnet_handlerentry_t table[] = {{200, (void (*)())ask}, {201, (void (*)())answer}};
  if (gasnet_init(&argc, &argv) != GASNET_OK || gasnet_attach(table, 2, 1 << 20, 0) != GASNET_OK) return 1;
  gasnet_AMRequestShort1((gasnet_mynode() + 1) % gasnet_nodes(), 200, 41);
  GASNET_BLOCKUNTIL(answers != 0);
  std::map<std::string, int> found{{"answer", answers}};
  std::ostringstream line;
  line << "client: rank " << gasnet_mynode() << " of " << gasnet_nodes() << ": ok\n";
  if (touched != 1 << 20 || found.at("answer") != 42 || pinwire::engine != "mine") gasnet_exit(3);
  gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
  std::cout << line.str() << std::flush;
  gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
  gasnet_exit(0);
}
