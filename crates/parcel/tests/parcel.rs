//! Parcels: what is sealed opens, for the right reader, within limits, and not when it was changed.

use proptest::prelude::*;
use stunt_parcel::messages::EventId;
use stunt_parcel::{Digest, Error, Identity, InstallationKey, Recipient, open, seal};

#[test]
fn what_is_sealed_opens_for_its_recipient_alone() {
    let (ours, theirs) = (Identity::generate(), Identity::generate());
    let sealed = seal(b"a report", &ours.recipient(), None, None).unwrap();
    let parcel = open(&sealed, &ours, 8).unwrap();
    assert_eq!((&parcel.report[..], parcel.signer), (&b"a report"[..], None));
    assert_eq!(open(&sealed, &theirs, 8).err(), Some(Error::NotForUs));
    assert_eq!(open(&sealed, &ours, 7).err(), Some(Error::TooLarge { most: 7 }));
}

#[test]
fn an_event_comes_with_its_parcel() {
    let (ours, key, event) = (Identity::generate(), InstallationKey::generate(), EventId::random());
    for signed_by in [None, Some(&key)] {
        let sealed = seal(b"a report", &ours.recipient(), signed_by, Some(event)).unwrap();
        let parcel = open(&sealed, &ours, 8).unwrap();
        assert_eq!((&parcel.report[..], parcel.event), (&b"a report"[..], Some(event)));
        assert_eq!(parcel.signer, signed_by.map(InstallationKey::public));
    }
}

#[test]
fn nothing_of_the_report_is_in_the_clear_and_no_two_seals_are_alike() {
    let identity = Identity::generate();
    let report = b"nobody may read this".repeat(9);
    let (one, two) = (
        seal(&report, &identity.recipient(), None, None),
        seal(&report, &identity.recipient(), None, None),
    );
    let (one, two) = (one.unwrap(), two.unwrap());
    assert!(!one.windows(8).any(|window| window == b"may read"));
    assert_ne!(Digest::of(&one), Digest::of(&two));
}

#[test]
fn a_signature_names_its_key_and_the_recipient() {
    let (ours, theirs) = (Identity::generate(), Identity::generate());
    let key = InstallationKey::generate();
    let sealed = seal(b"signed", &ours.recipient(), Some(&key), None).unwrap();
    assert_eq!(open(&sealed, &ours, 99).unwrap().signer, Some(key.public()));
    // Another vendor gets hold of the plain text and passes it on as if it had been sent to him.
    let inside = age_plain(&sealed, &ours);
    let recipient: age::x25519::Recipient = theirs.recipient().to_string().parse().unwrap();
    let forwarded = age::encrypt(&recipient, &inside).unwrap();
    assert_eq!(open(&forwarded, &theirs, 99).err(), Some(Error::BadSignature));
    let kept = InstallationKey::from_bytes(&key.to_bytes());
    assert_eq!(kept.public(), key.public());
}

#[test]
fn heads_that_nobody_writes_are_refused() {
    let identity = Identity::generate();
    let recipient: age::x25519::Recipient = identity.recipient().to_string().parse().unwrap();
    let long = [b"stunt-parcel 1\n".to_vec(), vec![b'x'; 1000]].concat();
    let cases: [&[u8]; 10] = [
        b"stunt-parcel 1\nevent 00\n\nreport",
        b"stunt-parcel 1\nevent 00000000000000000000000000000000\nevent 00000000000000000000000000000000\n\nr",
        b"stunt-parcel 1\nevent 00000000000000000000000000000000\nsigned 00 00\n\nr",
        b"",
        b"stunt-parcel 2\n\nreport",
        b"stunt-parcel 1",
        b"stunt-parcel 1\nsigned by nobody\n\nreport",
        b"stunt-parcel 1\nfrom somebody\n\nreport",
        b"stunt-parcel 1\nsigned 00 00",
        &long,
    ];
    for plain in cases {
        let sealed = age::encrypt(&recipient, plain).unwrap();
        let error = open(&sealed, &identity, 4096).err();
        assert!(matches!(error, Some(Error::Malformed(_))), "{plain:?}: {error:?}");
    }
}

#[test]
fn keys_are_read_back_and_secrets_do_not_print() {
    let identity = Identity::generate();
    let secret = identity.expose();
    assert!(secret.starts_with("AGE-SECRET-KEY-1"));
    let read: Identity = format!("{secret}\n").parse().unwrap();
    assert_eq!(read.recipient(), identity.recipient());
    assert!(!format!("{identity:?}").contains(&secret));
    let recipient: Recipient = identity.recipient().to_string().parse().unwrap();
    assert_eq!(recipient, identity.recipient());
    let error = "age1notakey".parse::<Recipient>().unwrap_err().to_string();
    assert!(!error.contains("age1notakey"), "{error}");
    let key = InstallationKey::generate();
    assert!(!format!("{key:?}").contains(&Digest::of(&key.to_bytes()).to_string()));
    let digits: String = key.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(!format!("{key:?}").contains(&digits));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A changed parcel never opens as another report.
    #[test]
    fn a_changed_parcel_is_refused(at in any::<prop::sample::Index>(), flip in 1u8..) {
        let identity = Identity::generate();
        let key = InstallationKey::generate();
        let mut sealed = seal(b"the report", &identity.recipient(), Some(&key), None).unwrap();
        let at = at.index(sealed.len());
        sealed[at] ^= flip;
        prop_assert!(open(&sealed, &identity, 99).is_err());
    }

    #[test]
    fn a_cut_parcel_is_refused(at in any::<prop::sample::Index>()) {
        let identity = Identity::generate();
        let sealed = seal(b"the report", &identity.recipient(), None, None).unwrap();
        prop_assert!(open(&sealed[..at.index(sealed.len())], &identity, 99).is_err());
    }
}

/// What is inside the encryption.
fn age_plain(sealed: &[u8], identity: &Identity) -> Vec<u8> {
    let identity: age::x25519::Identity = identity.expose().parse().unwrap();
    age::decrypt(&identity, sealed).unwrap()
}
