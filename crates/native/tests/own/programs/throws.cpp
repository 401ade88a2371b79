// One way to throw for each word.
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#define OUT __attribute__((noinline))

static volatile int sink;

struct Cleans { ~Cleans() { sink = sink + 1; } };

OUT static void thrower(const std::string& text) { throw std::runtime_error(text); }
OUT static void other() { throw 5; }
OUT static void between(const std::string& text) { Cleans cleans; thrower(text); sink = sink + 1; }
OUT static void never(const std::string& text) noexcept { between(text); sink = sink + 1; }

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  const std::string text = argc > 2 ? argv[2] : "";
  if (way == "uncaught") between(text);
  if (way == "other") other();
  if (way == "noexcept") never(text);
  if (way == "at") { std::vector<int> none; sink = none.at(text.size()); }
  if (way == "terminate") { try { other(); } catch (...) {} std::terminate(); }
  if (way == "abort") { try { other(); } catch (...) {} std::abort(); }
  if (way == "rethrow") { try { between(text); } catch (...) { throw; } }
  if (way == "caught") { try { between(text); } catch (...) { return 0; } }
  if (way == "caught-101") { try { between(text); } catch (...) { return 101; } }
  if (way == "often") {
    for (int i = 0; i < 2000; i++) { try { other(); } catch (...) {} }
    between(text);
  }
  if (way == "forked") {
    // The child has the parent's memory, as it is while it is followed.
    int status = 0;
    if (fork() == 0) {
      for (int i = 0; i < 50; i++) { try { between(text); } catch (...) {} }
      _exit(7);
    }
    wait(&status);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  }
  if (way == "threads") {
    std::vector<std::thread> threads;
    for (int n = 0; n < 4; n++) threads.emplace_back([] {
      for (int i = 0; i < 300; i++) { try { other(); } catch (...) {} }
    });
    for (int i = 0; i < 300; i++) { try { other(); } catch (...) {} }
    for (auto& thread : threads) thread.join();
    between(text);
  }
  if (way == "thread") { std::thread thread([&] { between(text); }); thread.join(); }
  return 0;
}
