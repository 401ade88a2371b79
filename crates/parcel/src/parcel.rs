//! A report, sealed: encrypted to one recipient, and signed if the sender wants that.
//!
//! ```text
//! stunt-parcel 1
//! signed KEY SIGNATURE      (only if it is)
//! event ID                  (only if it may have been counted before)
//!                           (an empty line)
//! …the bytes of the report's file
//! ```
//!
//! All of it is inside an age file. The signature covers the recipient, too: a parcel that was
//! meant for one vendor cannot be passed on to another in the sender's name.

use std::io::Read;

use age::{DecryptError, Decryptor};

use crate::messages::EventId;
use crate::{Error, Identity, InstallationKey, Recipient, SignerKey, hex};

const HEAD: &[u8] = b"stunt-parcel 1\n";
const SIGNED: &str = "signed ";
const EVENT: &str = "event ";
/// No head line is longer: the word, a key, a space, a signature, the end of the line.
const LONGEST_LINE: usize = SIGNED.len() + 64 + 1 + 128 + 1;

/// What a parcel holds.
#[derive(Clone, PartialEq, Eq)]
pub struct Parcel {
    /// The bytes of the report's file. They are a stranger's.
    pub report: Vec<u8>,
    /// Who signed it, if anybody did.
    pub signer: Option<SignerKey>,
    /// The event that it is about, if its sender says so: it counts once, however often it is told of.
    pub event: Option<EventId>,
}

/// Seals the bytes of a report's file. Every call gives other bytes: the encryption is random.
pub fn seal(
    report: &[u8],
    to: &Recipient,
    signed_by: Option<&InstallationKey>,
    event: Option<EventId>,
) -> Result<Vec<u8>, Error> {
    let mut plain = HEAD.to_vec();
    if let Some(key) = signed_by {
        let signature = hex::digits(&key.sign(&message(to, report)));
        plain.extend_from_slice(format!("{SIGNED}{} {signature}\n", key.public()).as_bytes());
    }
    if let Some(event) = event {
        plain.extend_from_slice(format!("{EVENT}{event}\n").as_bytes());
    }
    plain.push(b'\n');
    plain.extend_from_slice(report);
    age::encrypt(&to.0, &plain).map_err(|error| Error::Sealing(error.to_string()))
}

/// Opens a parcel that holds a report of at most `most` bytes.
pub fn open(sealed: &[u8], identity: &Identity, most: usize) -> Result<Parcel, Error> {
    let mut plain = decrypt(sealed, identity, most + HEAD.len() + 2 * LONGEST_LINE + 1)
        .map_err(|error| if error == TOO_LONG { Error::TooLarge { most } } else { error })?;
    let rest = plain.strip_prefix(HEAD).ok_or(Error::Malformed("it has another head"))?;
    let (mut signature, mut event) = (None, None);
    let mut rest = rest;
    let report = loop {
        let (head, behind) = line(rest).ok_or(Error::Malformed("its head does not end"))?;
        rest = behind;
        if head.is_empty() {
            break rest;
        } else if let Some(words) = head.strip_prefix(SIGNED.as_bytes())
            && (&signature, &event) == (&None, &None)
        {
            let read = self::signature(words).ok_or(Error::Malformed("its signature is none"))?;
            signature = Some(read);
        } else if let Some(words) = head.strip_prefix(EVENT.as_bytes())
            && event.is_none()
        {
            let text = std::str::from_utf8(words).ok().and_then(|text| text.parse().ok());
            event = Some(text.ok_or(Error::Malformed("its event is none"))?);
        } else {
            return Err(Error::Malformed("its head has an unknown line"));
        }
    };
    if report.len() > most {
        return Err(Error::TooLarge { most });
    }
    if let Some((signer, signature)) = &signature
        && !signer.signed(&message(&identity.recipient(), report), signature)
    {
        return Err(Error::BadSignature);
    }
    let start = plain.len() - report.len();
    plain.drain(..start);
    Ok(Parcel { report: plain, signer: signature.map(|(signer, _)| signer), event })
}

/// What is signed.
fn message(to: &Recipient, report: &[u8]) -> Vec<u8> {
    [HEAD, to.to_string().as_bytes(), b"\n", report].concat()
}

/// The first line, without its end, and what follows it.
fn line(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.iter().take(LONGEST_LINE).position(|&byte| byte == b'\n')?;
    Some((&text[..end], &text[end + 1..]))
}

fn signature(words: &[u8]) -> Option<(SignerKey, [u8; 64])> {
    let (key, signature) = std::str::from_utf8(words).ok()?.split_once(' ')?;
    Some((key.parse().ok()?, hex::bytes(signature)?))
}

/// Stands for "more than was allowed", until the caller names its own limit.
const TOO_LONG: Error = Error::TooLarge { most: 0 };

fn decrypt(sealed: &[u8], identity: &Identity, most: usize) -> Result<Vec<u8>, Error> {
    let malformed = Error::Malformed("it is no file of age, or a damaged one");
    let decryptor = Decryptor::new_buffered(sealed).map_err(|_| malformed.clone())?;
    let reader = match decryptor.decrypt(std::iter::once(&identity.0 as &dyn age::Identity)) {
        Ok(reader) => reader,
        Err(DecryptError::NoMatchingKeys) => return Err(Error::NotForUs),
        Err(_) => return Err(malformed),
    };
    let mut plain = Vec::with_capacity(sealed.len().min(most));
    reader.take(most as u64 + 1).read_to_end(&mut plain).map_err(|_| malformed)?;
    if plain.len() > most { Err(TOO_LONG) } else { Ok(plain) }
}
