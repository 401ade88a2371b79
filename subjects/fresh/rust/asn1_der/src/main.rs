//! Reads a document with a release of `asn1_der` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    let mut objects = 0;
    let mut open = vec![data];
    while let Some(bytes) = open.pop() {
        let mut rest = bytes.iter();
        while rest.len() > 0 {
            let Ok(object) = asn1_der::DerObject::deserialize(&mut rest) else {
                println!("error after {objects}");
                return;
            };
            objects += 1;
            let constructed = u8::from(object.tag) & 0x20 != 0;
            if constructed {
                open.push(object.value.data);
            }
        }
    }
    println!("ok objects={objects}");
}
