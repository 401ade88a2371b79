//! A store's tables, past the store, and what goes into them.

use sqlx::AnyPool;
use sqlx::any::AnyPoolOptions;
use stunt_parcel::Digest;
use stunt_report::{Limits, Report};
use stunt_server::store::{Place, Submission};

/// A report as a server has opened it.
pub fn submission(data: &[u8]) -> Submission {
    Submission {
        parcel: Digest::of(&[data, b"sealed"].concat()),
        digest: Digest::of(data),
        data: data.to_vec(),
        report: Report::from_bytes(data, Limits::default()).unwrap().report,
        signer: None,
        event: None,
    }
}

/// One connection to the tables themselves, past the store.
pub async fn tables(place: &Place) -> AnyPool {
    let url = match place {
        Place::Sqlite(file) => {
            let path = file.to_str().unwrap().replace(' ', "%20").replace('?', "%3F");
            format!("sqlite://{path}")
        }
        Place::Postgres(url) => url.clone(),
    };
    AnyPoolOptions::new().max_connections(1).connect(&url).await.unwrap()
}
