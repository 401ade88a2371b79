//! What `ip` of Debian's iproute2 shows of the machine's network: that of a fresh network namespace
//! with the loopback interface up, for somebody who may look and not touch.
//!
//! The texts below are what it shows there. Where the host lets its user make such a namespace, the
//! machine is compared with a real one as well, in more ways of asking.

use std::{path::Path, process::Command, sync::Arc};

use stunt_machine::{
    Machine,
    linux::{
        Ending, Limits, Setup,
        fs::{Allow, Config, Stream, User},
    },
};

/// What a run shows: standard output and error, and the exit status.
type Shown = (String, String, i32);

fn in_machine(words: &[&str]) -> Shown {
    let files = Config {
        allow: Allow::Everything,
        user: User { uid: 0, gid: 0, groups: Vec::new() },
        cwd: b"/".to_vec(),
        streams: [Stream::Null, Stream::Pipe, Stream::Pipe],
        stdin: Arc::from([]),
        ..Config::default()
    };
    let setup = Setup {
        files,
        program: b"/bin/ip".to_vec(),
        arguments: words.iter().map(|word| word.as_bytes().to_vec()).collect(),
        environment: vec![b"PATH=/usr/bin:/bin".to_vec()],
        memory: 1 << 30,
    };
    let mut machine = Machine::new(setup).expect("the program starts");
    let status = match machine.run(Limits { instructions: 500_000_000 }) {
        Ending::Exited(code) => i32::from(code),
        other => panic!("{words:?}: {other:?}"),
    };
    let mut text =
        |stream| String::from_utf8_lossy(&machine.kernel().files().drain(stream)).into_owned();
    (text(1), text(2), status)
}

/// The same in a namespace of the host, without privileges; none if the host does not allow that.
fn in_namespace(words: &[&str]) -> Option<Shown> {
    let script = "ip link set lo up && exec setpriv --bounding-set=-all --inh-caps=-all \"$@\"";
    let output = Command::new("unshare")
        .args(["-rn", "sh", "-c", script, "sh"])
        .args(words)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .output()
        .ok()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some((text(&output.stdout), text(&output.stderr), output.status.code()?))
}

const FIRST: &str = "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN ";

/// Ways of asking whose answers are known.
fn known() -> Vec<(&'static str, Shown)> {
    let good = |text: &str| (text.to_string(), String::new(), 0);
    let bad = |text: &str, status| (String::new(), text.to_string(), status);
    let hardware = "    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00\n";
    let forever = "       valid_lft forever preferred_lft forever\n";
    let link = format!("{FIRST}mode DEFAULT group default qlen 1000\n{hardware}");
    let addresses = format!(
        "{FIRST}group default qlen 1000\n{hardware}    inet 127.0.0.1/8 scope host lo\n{forever}    \
         inet6 ::1/128 scope host \n{forever}"
    );
    let six = format!(
        "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 state UNKNOWN qlen 1000\n    inet6 ::1/128 scope \
         host \n{forever}"
    );
    let routes = "local 127.0.0.0/8 dev lo proto kernel scope host src 127.0.0.1 \n\
                  local 127.0.0.1 dev lo proto kernel scope host src 127.0.0.1 \n\
                  broadcast 127.255.255.255 dev lo proto kernel scope link src 127.0.0.1 \n";
    let forbidden = "RTNETLINK answers: Operation not permitted\n";
    vec![
        ("ip link", good(&link)),
        ("ip link show lo", good(&link)),
        ("ip addr", good(&addresses)),
        ("ip addr show lo", good(&addresses)),
        ("ip addr show dev lo up", good(&addresses)),
        ("ip -6 addr", good(&six)),
        ("ip route", good("")),
        ("ip -6 route", good("")),
        ("ip neigh", good("")),
        ("ip route show table local", good(routes)),
        (
            "ip -6 route show table local",
            good("local ::1 dev lo proto kernel metric 0 pref medium\n"),
        ),
        ("ip route get 192.0.2.1", bad("RTNETLINK answers: Network is unreachable\n", 2)),
        ("ip link show eth7", bad("Device \"eth7\" does not exist.\n", 1)),
        ("ip link set lo down", bad(forbidden, 2)),
        ("ip addr add 192.0.2.1/24 dev lo", bad(forbidden, 2)),
        ("ip link add dummy7 type dummy", bad(forbidden, 2)),
        ("ip route add default dev lo", bad(forbidden, 2)),
    ]
}

/// Further ways, to be compared with the host only: their texts change with the tool.
const FURTHER: [&str; 22] = [
    "ip -V",
    "ip -4 addr",
    "ip -s link",
    "ip -s -s link show lo",
    "ip -d link show lo",
    "ip -d -6 addr",
    "ip -o link",
    "ip -br addr",
    "ip -br link show up",
    "ip -j -p addr",
    "ip -j link show dev lo",
    "ip link show type dummy",
    "ip link show master lo",
    "ip addr show to 127.0.0.0/8",
    "ip addr show scope global",
    "ip rule",
    "ip -6 rule",
    "ip route show table all",
    "ip route show table 77",
    "ip route show dev lo",
    "ip route get 127.3.4.5",
    "ip -6 route get ::1",
];

#[test]
fn ip_shows_a_fresh_network() {
    assert!(Path::new("/bin/ip").exists(), "this needs Debian's iproute2");
    for (command, expected) in known() {
        let words: Vec<&str> = command.split(' ').collect();
        assert_eq!(in_machine(&words), expected, "{command}");
    }
}

#[test]
fn ip_shows_what_it_shows_in_a_namespace() {
    let probe = in_namespace(&["ip", "link", "show", "lo"]);
    if probe.is_none_or(|(text, _, status)| status != 0 || !text.contains("LOWER_UP")) {
        eprintln!("skipped: the host allows no network namespaces");
        return;
    }
    let known = known();
    let commands = known.iter().map(|(command, _)| *command).chain(FURTHER);
    let mut wrong = String::new();
    for command in commands {
        let words: Vec<&str> = command.split(' ').collect();
        let (native, machine) = (in_namespace(&words), Some(in_machine(&words)));
        if native != machine {
            wrong += &format!("{command}\nnative  {native:?}\nmachine {machine:?}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
