//! The double of a ticket, fetched from its server with a maintainer's token.
//!
//! Always: a token goes to the server that the configuration names it for, or, where the user set
//! it for this command, to the server that the user typed. What comes back is a stranger's report.

use anyhow::{Result, anyhow, bail};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use stunt_client::config::{self, Destination, Shape, Value};
use stunt_client::{Failure, Server, TicketAddress};
use stunt_report::{Limits, Opened, Report};

/// The variable with a maintainer's token.
const TOKEN: &str = "STUNT_TOKEN";

/// Fetches the best double of a ticket.
pub fn fetch(address: &TicketAddress) -> Result<Opened> {
    let TicketAddress { server, ticket } = address;
    let settings = config::settings()?;
    let mut destination = Destination::named(server.clone(), settings.destination());
    if let Some(text) = std::env::var_os(TOKEN).filter(|text| !text.is_empty()) {
        let token = text.to_str().and_then(|text| Shape::Secret.parse_text(text).ok());
        let Some(Value::Secret(token)) = token else { bail!("{TOKEN} does not hold a token") };
        destination.token = Some(token);
    }
    let talk = Server::new(&settings, &destination)?;
    let fetched = talk.ticket_double(ticket, &mut ChaCha20Rng::from_entropy());
    let bytes = fetched.map_err(|failure| match failure {
        Failure::Refused { status: 401 | 403, words } => anyhow!(
            "{server} shows tickets to maintainers only ({words}): set {TOKEN} to a \
             maintainer's token, or destination.token for this server in the configuration"
        ),
        Failure::Refused { status: 404, words } => {
            anyhow!("{server} has no double of {ticket}: {words}")
        }
        failure => anyhow!(failure),
    })?;
    Report::from_bytes(&bytes, Limits::default())
        .map_err(|error| anyhow!("the double of {ticket} at {server}: {error}"))
}
