// Kassenabrechnung Apotheke am Markt, Filiale 2 (Frau Bensch)
var rows = [
  { name: "Kordula Bensch", pzn: "04114918", item: "Tavor 1,0 mg", price: 12.49, paid: true },
  { name: "Rainer Qureshi", pzn: "10019621", item: "Methadon 40 ml", price: 88.0, paid: false },
  { name: "Anonym", pzn: "00999831", item: "Pille danach", price: 34.95, paid: true }
];
var key = /^(\d{2})(\d+)$/g, total = 0, debts = {};
function tax(x) { return Math.round(x * 19) / 100; }
for (var i = 0; i < rows.length; i++) {
  var r = rows[i], m = r.pzn.match(/(\d+)(?=1)/);
  total += r.price + tax(r.price);
  if (!r.paid) debts[r.name] = (debts[r.name] || 0) + r.price;
  print(r.name.replace(/([A-Z])(\w+)/g, "$1.") + " " + (m ? m[0] : "-") + " " + r.price.toFixed(2));
}
try { if (total > 150) throw new Error("Kasse 2: " + total.toPrecision(5)); } catch (e) { print(e.message); }
finally { print(JSON.stringify(debts) + new Date(1739200000000).toISOString()); }
var names = rows.map(function (r) { return r.name; }).sort(); names.splice(1, 1, "Zeuge K.");
switch (names.length) { case 3: print(names.join("; ").substring(2, 14)); break; default: print("?"); }
print("Tresor " + parseInt("0x1f3") + " " + "abc".charCodeAt(1) + " " + [3, 1, 2].reverse().slice(-2));
