//! The double of a ticket, fetched from its server with a maintainer's token.
//!
//! Always: a token goes to the server that it was given for, and to no other: that which the
//! configuration names it for; or, where it is in the environment, that which stands beside it there,
//! or else the server of the user's own configuration. An address that somebody hands over gets
//! none. What comes back is a stranger's report.

use anyhow::{Result, anyhow, bail};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use stunt_client::config::{self, Destination, Shape, Value};
use stunt_client::{Address, Failure, Server, TicketAddress};
use stunt_report::{Limits, Opened, Report};

/// The variable with a maintainer's token.
const TOKEN: &str = "STUNT_TOKEN";
/// The variable with the server that it is for.
const SERVER: &str = "STUNT_SERVER";

/// Fetches the best double of a ticket.
pub fn fetch(address: &TicketAddress) -> Result<Opened> {
    let TicketAddress { server, ticket } = address;
    let settings = config::settings()?;
    let configured = settings.destination();
    let mut destination = Destination::named(server.clone(), configured.clone());
    let mut unused = false;
    if let Some(text) = std::env::var_os(TOKEN).filter(|text| !text.is_empty()) {
        let token = text.to_str().and_then(|text| Shape::Secret.parse_text(text).ok());
        let Some(Value::Secret(token)) = token else { bail!("{TOKEN} does not hold a token") };
        let given_for = given_for()?;
        let used;
        (destination, used) =
            destination.with_token(token, given_for.as_ref(), configured.as_ref());
        unused = !used;
    }
    let talk = Server::new(&settings, &destination)?;
    let fetched = talk.ticket_double(ticket, &mut ChaCha20Rng::from_entropy());
    let bytes = fetched.map_err(|failure| match failure {
        Failure::Refused { status: 401 | 403, .. } if unused => anyhow!(
            "{server} shows tickets to maintainers only, and {TOKEN} was not sent to it: say that \
             it is for this server by {SERVER}={server}, or by destination.server in your own \
             configuration"
        ),
        Failure::Refused { status: 401 | 403, words } => anyhow!(
            "{server} shows tickets to maintainers only ({words}): set {TOKEN} to a \
             maintainer's token and {SERVER} to this server, or destination.token for this server in the configuration"
        ),
        Failure::Refused { status: 404, words } => {
            anyhow!("{server} has no double of {ticket}: {words}")
        }
        failure => anyhow!(failure),
    })?;
    Report::from_bytes(&bytes, Limits::default())
        .map_err(|error| anyhow!("the double of {ticket} at {server}: {error}"))
}

/// The server that the token in the environment is for, if that says so.
fn given_for() -> Result<Option<Address>> {
    let Some(text) = std::env::var_os(SERVER).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let address = text.to_str().and_then(|text| text.parse().ok());
    address.map(Some).ok_or_else(|| anyhow!("{SERVER} does not hold the address of a server"))
}
