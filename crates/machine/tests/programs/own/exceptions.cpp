// C++: exceptions through many frames, streams, regular expressions, containers, threads.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <future>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <typeinfo>
#include <unordered_map>
#include <variant>
#include <vector>

struct Noisy {
	std::string name;
	explicit Noisy(std::string n) : name(std::move(n)) { std::cout << "+" << name << " "; }
	~Noisy() { std::cout << "-" << name << " "; }
};
struct Base { virtual ~Base() = default; virtual int value() const = 0; };
struct Derived : Base { int v; explicit Derived(int v) : v(v) {} int value() const override { if (v > 2) throw std::out_of_range("v is " + std::to_string(v)); return v; } };
struct Custom : std::runtime_error { int code; Custom(int c) : std::runtime_error("custom"), code(c) {} };

static int depth(int n)
{
	Noisy here("f" + std::to_string(n));
	if (n == 0) throw Custom(42);
	try { return depth(n - 1) + 1; } catch (const std::logic_error &) { return -1; }
}

int main(int argc, char **argv)
{
	try { depth(4); } catch (const Custom &e) { std::cout << "\ncaught " << e.what() << " " << e.code << "\n"; }
	try { try { throw 7; } catch (int i) { std::throw_with_nested(std::runtime_error("outer " + std::to_string(i))); } }
	catch (const std::exception &e) { std::cout << e.what(); try { std::rethrow_if_nested(e); } catch (int i) { std::cout << " inner " << i << "\n"; } }
	std::vector<std::unique_ptr<Base>> all;
	for (int i = 0; i < 5; i++) all.push_back(std::make_unique<Derived>(i));
	for (auto &b : all) try { std::cout << b->value() << " "; } catch (const std::out_of_range &e) { std::cout << "[" << e.what() << "] "; }
	try { std::vector<int> v(3); v.at(10) = 1; } catch (const std::exception &e) { std::cout << "\n" << e.what() << "\n"; }
	try { std::string s; s.resize(s.max_size() + 1); } catch (const std::length_error &e) { std::cout << e.what() << "\n"; }
	try { (void)dynamic_cast<Derived &>(*all[0]).v; struct Other : Base { int value() const override { return 0; } }; (void)dynamic_cast<Other &>(*all[0]); } catch (const std::bad_cast &e) { std::cout << e.what() << "\n"; }

	std::ifstream in("people.csv");
	std::string line;
	std::regex field("(\"[^\"]*\"|[^,]+)");
	std::map<std::string, std::vector<int>> towns;
	std::getline(in, line);
	while (std::getline(in, line)) {
		std::vector<std::string> fields;
		for (std::sregex_iterator i(line.begin(), line.end(), field), e; i != e; ++i) fields.push_back((*i)[1]);
		towns[fields[2]].push_back(std::stoi(fields[3]));
	}
	for (auto &[town, heights] : towns) std::cout << std::setw(12) << std::left << town << std::fixed << std::setprecision(2) << std::accumulate(heights.begin(), heights.end(), 0.0) / heights.size() << " " << std::hex << std::showbase << heights[0] << std::dec << "\n";
	std::cout << std::regex_replace(std::string("2020-01-31"), std::regex("(\\d+)-(\\d+)-(\\d+)"), "$3.$2.$1") << "\n";
	std::mt19937 random(1);
	std::vector<int> shuffled(20);
	std::iota(shuffled.begin(), shuffled.end(), 0);
	std::shuffle(shuffled.begin(), shuffled.end(), random);
	for (int i : shuffled) std::cout << i << ' ';
	std::sort(shuffled.begin(), shuffled.end(), std::greater<>());
	std::cout << shuffled[0] << " " << std::normal_distribution<>(0, 1)(random) << "\n";
	std::variant<int, std::string> either = "text";
	std::optional<double> maybe;
	std::cout << either.index() << maybe.value_or(1.5) << std::boolalpha << maybe.has_value() << " " << std::set<int>{ 3, 1, 2, 3 }.size() << "\n";
	try { (void)std::get<int>(either); } catch (const std::bad_variant_access &e) { std::cout << e.what() << "\n"; }

	std::vector<std::future<long>> futures;
	for (int i = 0; i < 4; i++) futures.push_back(std::async(std::launch::async, [i] { long s = 0; for (int k = 0; k < 10000; k++) s += k % (i + 2); if (i == 3) throw Custom(i); return s; }));
	for (auto &f : futures) try { std::cout << f.get() << " "; } catch (const Custom &e) { std::cout << "thread threw " << e.code << "\n"; }
	std::istringstream numbers("1 2.5 x");
	int a; double b; char c;
	numbers >> a >> b >> c;
	std::cout << a + b << c << numbers.eof() << "\n";
	if (argc > 1 && std::string(argv[1]) == "uncaught") throw Custom(1);
	if (argc > 1 && std::string(argv[1]) == "noexcept") [&]() noexcept { throw std::runtime_error("through noexcept"); }();
	return argc > 1 ? 3 : 0;
}
