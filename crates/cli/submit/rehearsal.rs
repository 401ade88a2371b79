//! `--dry-run`: every request that would be sent, byte for byte, and none of them sent.
//!
//! Always: the requests are made by the same code that sends them. A sealed parcel is random: each
//! sealing gives other bytes, so what is sealed is shown, too, and `-o` keeps the very parcel.

use std::fmt::Write;
use std::path::Path;

use stunt_client::Request;
use stunt_client::config::Destination;
use stunt_parcel::Recipient;
use stunt_parcel::messages::{Ask, Count, EventId};
use stunt_report::Report;

use stunt_graph::character;

/// All that would be sent.
pub struct Rehearsal<'a> {
    /// The report.
    pub report: &'a Report,
    /// Its file, written anew.
    pub file: &'a [u8],
    /// Where it goes.
    pub destination: &'a Destination,
    /// Who can open it.
    pub recipient: &'a Recipient,
    /// Whether the server is asked first.
    pub ask: bool,
    /// The parcel.
    pub sealed: Vec<u8>,
    /// The file that keeps the parcel.
    pub output: Option<&'a Path>,
}

/// What asking tells the server.
pub fn ask_of(report: &Report) -> Ask {
    Ask {
        signature: report.failure.signature.clone(),
        program: report.program.name.clone(),
        build_id: report.program.build_id.clone(),
    }
}

/// What counting tells the server.
pub fn count_of(report: &Report, id: EventId) -> Count {
    Count {
        id,
        signature: report.failure.signature.clone(),
        program: report.program.name.clone(),
        build_id: report.program.build_id.clone(),
        version: None,
    }
}

impl Rehearsal<'_> {
    /// All of it, for people.
    pub fn text(self) -> String {
        let mut text = format!(
            "Nothing was sent. These are the requests to {}, as they would go {}.\n",
            self.destination.server,
            if self.destination.server.is_encrypted() {
                "through TLS"
            } else {
                "to this machine itself, without TLS"
            }
        );
        if self.ask {
            text += "\nFirst, to ask whether there is a double already:\n\n";
            push(&mut text, &Request::ask(self.destination, &ask_of(self.report)), Body::Text);
            text += "\nOnly if there is one, to fetch it:\n\n";
            let signature = &self.report.failure.signature;
            push(&mut text, &Request::double(self.destination, signature), Body::Text);
            text += "\nThen, a fixed time later and whatever that does here (the id is random, \
                     another one each time):\n\n";
            push(
                &mut text,
                &Request::count(self.destination, &count_of(self.report, EventId::random())),
                Body::Text,
            );
            text += "\nOnly if there is no double that fails here in the same way, with your \
                     consent:\n\n";
        } else {
            text += "\nWith your consent:\n\n";
        }
        let request = Request::parcel(self.destination, self.sealed);
        let body = match self.output {
            Some(path) => Body::In(path),
            None => Body::Hex,
        };
        push(&mut text, &request, body);
        let _ = write!(
            text,
            "\nThe body is sealed for {}.\nSealing is random: each time gives other bytes, and \
             with them another digest in the path.\n",
            self.recipient
        );
        if let Some(path) = self.output {
            let path = path.display();
            let _ =
                writeln!(text, "To send this very parcel: stunt submit REPORT --parcel {path}",);
        }
        let _ = write!(text, "\nWhat is sealed in it, {} bytes:\n\n", self.file.len());
        hex(&mut text, self.file);
        text
    }
}

/// How the body of a request is shown.
#[derive(Clone, Copy)]
enum Body<'a> {
    /// It is text.
    Text,
    /// In hexadecimal digits.
    Hex,
    /// It is in this file.
    In(&'a Path),
}

fn push(text: &mut String, request: &Request, body: Body<'_>) {
    for line in request.head().split("\r\n") {
        let _ = writeln!(text, "{}", format!("    {line}").trim_end());
    }
    // The empty line at the end of a head gives two of them.
    text.truncate(text.trim_end().len());
    text.push_str("\n\n");
    let Some((_, bytes)) = &request.body else {
        text.truncate(text.trim_end().len());
        text.push('\n');
        return;
    };
    match body {
        Body::Text => {
            let _ = writeln!(text, "    {}", String::from_utf8_lossy(bytes));
        }
        Body::Hex => hex(text, bytes),
        Body::In(path) => {
            let _ = writeln!(text, "    (the {} bytes of {})", bytes.len(), path.display());
        }
    }
}

fn hex(text: &mut String, bytes: &[u8]) {
    for (number, row) in bytes.chunks(16).enumerate() {
        let digits: Vec<String> = row.iter().map(|byte| format!("{byte:02x}")).collect();
        let shown: String = row.iter().map(|&byte| character(byte)).collect();
        let line = format!("    {:08x}  {:<47}  {shown}", number * 16, digits.join(" "));
        let _ = writeln!(text, "{}", line.trim_end());
    }
}
