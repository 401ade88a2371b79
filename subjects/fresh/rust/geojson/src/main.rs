//! Reads a document with a release of `geojson` that panics on some documents.

trait Count {
    fn try_into_geometry(self) -> usize;
}

impl Count for geojson::Value {
    fn try_into_geometry(self) -> usize {
        let shape: Result<geo_types::Geometry<f64>, _> = self.try_into();
        shape.is_ok() as usize
    }
}

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    let Ok(text) = String::from_utf8(data) else {
        println!("not utf-8");
        std::process::exit(2)
    };
    let document = match text.parse::<geojson::GeoJson>() {
        Ok(document) => document,
        Err(error) => {
            println!("error {error}");
            return;
        }
    };
    let mut shapes = 0;
    if let geojson::GeoJson::FeatureCollection(collection) = document {
        for feature in collection.features {
            if let Some(geometry) = feature.geometry {
                shapes += geometry.value.try_into_geometry();
            }
        }
    }
    println!("ok shapes={shapes}");
}
