// Two reasons to throw, and many ways to learn of it elsewhere. Words: the way, the reason, a text.
#include <exception>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>

#define OUT __attribute__((noinline))

static volatile int sink;

OUT static int month(const std::string& text) {
  if (text.size() < 3) throw std::runtime_error("too short: " + text);
  return text.size();
}
OUT static int days(int month) {
  if (month > 2) throw std::runtime_error("no such month");
  return 30 + month;
}
OUT static int work(const std::string& reason, const std::string& text) {
  if (reason == "short") return month(text.substr(0, 2));
  if (reason == "index") return days(month(text));
  return 7;
}
OUT static void wrapped(const std::string& reason, const std::string& text) {
  try { sink = work(reason, text); } catch (...) { std::throw_with_nested(std::logic_error("import")); }
}

int main(int argc, char** argv) {
  const std::string way = argv[1], reason = argv[2], text = argv[3];
  if (way == "async") {
    auto future = std::async(std::launch::async, work, reason, text);
    sink = future.get();
  }
  if (way == "pointer") {
    std::exception_ptr kept;
    std::thread thread([&] { try { sink = work(reason, text); } catch (...) { kept = std::current_exception(); } });
    thread.join();
    try { days(77); } catch (...) {}
    if (kept) std::rethrow_exception(kept);
  }
  if (way == "nested") wrapped(reason, text);
  if (way == "between") {
    try { sink = work(reason, text); } catch (...) {
      try { days(77); } catch (...) {}
      throw;
    }
  }
  return 0;
}
