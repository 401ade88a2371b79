//! Databases by SQLite itself, and what it finds in them after an edit.

use crate::formats::testing::{document, leaf, python};
use crate::node::Kind;

const WRITE: &str = "
import sqlite3, sys, os, tempfile
f = os.path.join(tempfile.mkdtemp(), 'x'); d = sqlite3.connect(f)
d.execute('create table patient(id integer primary key, name, balance real, note, photo blob)')
for i in range(60):
    d.execute('insert into patient values(?,?,?,?,?)', (i, 'Anneliese Brandt %d' % i, i * 1.5, None if i % 3 else 'asthma', b'\\0' * (i if i != 7 else 9000)))
d.execute('delete from patient where id = 5'); d.commit(); d.close()
sys.stdout.buffer.write(open(f, 'rb').read()); os.remove(f); os.rmdir(os.path.dirname(f))
";
const READ: &str = "
import sqlite3, sys, os, tempfile
f = os.path.join(tempfile.mkdtemp(), 'x'); open(f, 'wb').write(sys.stdin.buffer.read()); d = sqlite3.connect(f)
print(d.execute('pragma integrity_check').fetchall())
for r in d.execute('select id, name, balance, note, length(photo) from patient where id < 8'): print(r)
d.close(); os.remove(f); os.rmdir(os.path.dirname(f))
";

#[test]
fn databases_are_written_as_they_were() {
    let bytes = python(WRITE, &[], b"");
    let doc = document(&bytes);
    assert_eq!(doc.root().kind(), Kind::Sqlite);
    assert!(doc.render() == bytes);
    let rows = doc.nodes().filter(|(_, node)| node.kind() == Kind::SqliteRecord).count();
    assert!(rows >= 59, "{rows}");
}

#[test]
fn edited_databases_are_read_by_sqlite() {
    let doc = document(&python(WRITE, &[], b""));
    let name = |number: usize| leaf(&doc, format!("Anneliese Brandt {number}").as_bytes()).unwrap();
    let row = name(2).parent().unwrap().0.parent().unwrap().0;
    let edited = doc
        .with_leaves([
            (name(0), b"Bo".to_vec().into()),
            (name(3), "Frau Müller ".repeat(20).into_bytes().into()),
        ])
        .without([&row, &name(4)]);
    let list = String::from_utf8(python(READ, &[], &edited.render())).unwrap();
    assert!(list.starts_with("[('ok',)]\n(0, 'Bo', 0.0, 'asthma', 0)\n(1, 'Anneliese"), "{list}");
    assert!(!list.contains("\n(2, ") && list.contains("(3, 'Frau Müller Frau"), "{list}");
    assert!(list.contains("(4, None, 6.0, None, 4)"), "{list}");
    assert!(list.contains("(7, 'Anneliese Brandt 7', 10.5, None, 9000)"), "{list}");
}
