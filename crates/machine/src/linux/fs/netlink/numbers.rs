//! Numbers of the netlink interface: kinds of messages, flags, kinds of attributes.
//!
//! Every constant has the name and the value of the kernel's headers; the tests compare those that
//! the host's library knows. Nothing here says what they do.

// Protocols, and options of a netlink socket.
pub const NETLINK_ROUTE: u32 = 0;
pub const SOL_NETLINK: u32 = 270;
pub const NETLINK_ADD_MEMBERSHIP: u32 = 1;
pub const NETLINK_DROP_MEMBERSHIP: u32 = 2;
pub const NETLINK_PKTINFO: u32 = 3;
pub const NETLINK_BROADCAST_ERROR: u32 = 4;
pub const NETLINK_NO_ENOBUFS: u32 = 5;
pub const NETLINK_LISTEN_ALL_NSID: u32 = 8;
pub const NETLINK_LIST_MEMBERSHIPS: u32 = 9;
pub const NETLINK_CAP_ACK: u32 = 10;
pub const NETLINK_EXT_ACK: u32 = 11;
pub const NETLINK_GET_STRICT_CHK: u32 = 12;

// Messages of every protocol, and their flags.
pub const NLMSG_ERROR: u16 = 2;
pub const NLMSG_DONE: u16 = 3;
/// Smaller kinds belong to netlink itself.
pub const NLMSG_MIN_TYPE: u16 = 16;
pub const NLM_F_REQUEST: u16 = 1;
pub const NLM_F_MULTI: u16 = 2;
pub const NLM_F_ACK: u16 = 4;
pub const NLM_F_DUMP_FILTERED: u16 = 0x20;
pub const NLM_F_DUMP: u16 = 0x300;
pub const NLM_F_CAPPED: u16 = 0x100;
pub const NLM_F_ACK_TLVS: u16 = 0x200;
pub const NLMSGERR_ATTR_MSG: u16 = 1;

// Messages about the network.
pub const RTM_NEWLINK: u16 = 16;
pub const RTM_GETLINK: u16 = 18;
pub const RTM_NEWADDR: u16 = 20;
pub const RTM_GETADDR: u16 = 22;
pub const RTM_NEWROUTE: u16 = 24;
pub const RTM_GETROUTE: u16 = 26;
pub const RTM_GETNEIGH: u16 = 30;
pub const RTM_NEWRULE: u16 = 32;
pub const RTM_GETRULE: u16 = 34;
/// The last kind that a recent kernel knows.
pub const RTM_MAX: u16 = 123;

// Attributes of links.
pub const IFLA_ADDRESS: u16 = 1;
pub const IFLA_BROADCAST: u16 = 2;
pub const IFLA_IFNAME: u16 = 3;
pub const IFLA_MTU: u16 = 4;
pub const IFLA_QDISC: u16 = 6;
pub const IFLA_STATS: u16 = 7;
pub const IFLA_MASTER: u16 = 10;
pub const IFLA_PROTINFO: u16 = 12;
pub const IFLA_TXQLEN: u16 = 13;
pub const IFLA_MAP: u16 = 14;
pub const IFLA_OPERSTATE: u16 = 16;
pub const IFLA_LINKMODE: u16 = 17;
pub const IFLA_LINKINFO: u16 = 18;
pub const IFLA_STATS64: u16 = 23;
pub const IFLA_AF_SPEC: u16 = 26;
pub const IFLA_GROUP: u16 = 27;
pub const IFLA_EXT_MASK: u16 = 29;
pub const IFLA_PROMISCUITY: u16 = 30;
pub const IFLA_NUM_TX_QUEUES: u16 = 31;
pub const IFLA_NUM_RX_QUEUES: u16 = 32;
pub const IFLA_CARRIER: u16 = 33;
pub const IFLA_CARRIER_CHANGES: u16 = 35;
pub const IFLA_PROTO_DOWN: u16 = 39;
pub const IFLA_GSO_MAX_SEGS: u16 = 40;
pub const IFLA_GSO_MAX_SIZE: u16 = 41;
pub const IFLA_XDP: u16 = 43;
pub const IFLA_TARGET_NETNSID: u16 = 46;
pub const IFLA_CARRIER_UP_COUNT: u16 = 47;
pub const IFLA_CARRIER_DOWN_COUNT: u16 = 48;
pub const IFLA_MIN_MTU: u16 = 50;
pub const IFLA_MAX_MTU: u16 = 51;
pub const IFLA_ALT_IFNAME: u16 = 53;
pub const IFLA_GRO_MAX_SIZE: u16 = 58;
pub const IFLA_TSO_MAX_SIZE: u16 = 59;
pub const IFLA_TSO_MAX_SEGS: u16 = 60;
pub const IFLA_ALLMULTI: u16 = 61;
pub const IFLA_GSO_IPV4_MAX_SIZE: u16 = 63;
pub const IFLA_GRO_IPV4_MAX_SIZE: u16 = 64;
pub const IFLA_XDP_ATTACHED: u16 = 2;
pub const IFLA_INET6_FLAGS: u16 = 1;
pub const IFLA_INET6_CACHEINFO: u16 = 5;
pub const IFLA_INET6_TOKEN: u16 = 7;
pub const IFLA_INET6_ADDR_GEN_MODE: u16 = 8;
/// The interface is ready for IPv6, as `IFLA_INET6_FLAGS` says it.
pub const IF_READY: u32 = 0x8000_0000;

// Attributes of addresses, and their flags.
pub const IFA_ADDRESS: u16 = 1;
pub const IFA_LOCAL: u16 = 2;
pub const IFA_LABEL: u16 = 3;
pub const IFA_CACHEINFO: u16 = 6;
pub const IFA_FLAGS: u16 = 8;
pub const IFA_PROTO: u16 = 11;
pub const IFA_F_PERMANENT: u8 = 0x80;
/// The kernel gave the address to the loopback interface by itself.
pub const IFAPROT_KERNEL_LO: u8 = 1;

// Attributes of routes, and the words of their headers.
pub const RTA_DST: u16 = 1;
pub const RTA_SRC: u16 = 2;
pub const RTA_OIF: u16 = 4;
pub const RTA_PRIORITY: u16 = 6;
pub const RTA_PREFSRC: u16 = 7;
pub const RTA_CACHEINFO: u16 = 12;
pub const RTA_TABLE: u16 = 15;
pub const RTA_PREF: u16 = 20;
pub const RTA_UID: u16 = 25;
pub const RT_TABLE_DEFAULT: u8 = 253;
pub const RT_TABLE_MAIN: u8 = 254;
pub const RT_TABLE_LOCAL: u8 = 255;
pub const RT_SCOPE_UNIVERSE: u8 = 0;
pub const RT_SCOPE_LINK: u8 = 253;
pub const RT_SCOPE_HOST: u8 = 254;
pub const RTN_LOCAL: u8 = 2;
pub const RTN_BROADCAST: u8 = 3;
pub const RTPROT_UNSPEC: u8 = 0;
pub const RTPROT_KERNEL: u8 = 2;
pub const RTM_F_CLONED: u32 = 0x200;
pub const RTM_F_PREFIX: u32 = 0x800;
/// What a route that was looked for leads to, in its flags.
pub const RTCF_LOCAL: u32 = 0x8000_0000;
pub const RTCF_BROADCAST: u32 = 0x1000_0000;

// Attributes of neighbours, and a flag of their headers.
pub const NDA_DST: u16 = 1;
pub const NDA_IFINDEX: u16 = 8;
pub const NDA_MASTER: u16 = 9;
pub const NTF_PROXY: u8 = 8;

// Attributes of rules.
pub const FRA_PRIORITY: u16 = 6;
pub const FRA_SUPPRESS_PREFIXLEN: u16 = 14;
pub const FRA_TABLE: u16 = 15;
pub const FRA_PROTOCOL: u16 = 21;
pub const FR_ACT_TO_TBL: u8 = 1;

/// The family of bridges, which have links of their own.
pub const AF_BRIDGE: u8 = 7;
/// The kind of the hardware that a loopback interface is.
pub const ARPHRD_LOOPBACK: u16 = 772;

#[cfg(test)]
mod tests {
    #[test]
    fn values_are_the_hosts() {
        same_as_the_host! {
            NETLINK_ROUTE SOL_NETLINK NETLINK_ADD_MEMBERSHIP NETLINK_DROP_MEMBERSHIP NETLINK_PKTINFO
            NETLINK_BROADCAST_ERROR NETLINK_NO_ENOBUFS NETLINK_LISTEN_ALL_NSID
            NETLINK_LIST_MEMBERSHIPS NETLINK_CAP_ACK NETLINK_EXT_ACK NETLINK_GET_STRICT_CHK
            NLMSG_ERROR NLMSG_DONE NLM_F_REQUEST NLM_F_MULTI NLM_F_ACK NLM_F_DUMP_FILTERED NLM_F_DUMP
            RTM_NEWLINK RTM_GETLINK RTM_NEWADDR RTM_GETADDR RTM_NEWROUTE RTM_GETROUTE
            RTM_GETNEIGH RTM_NEWRULE RTM_GETRULE
            IFLA_ADDRESS IFLA_BROADCAST IFLA_IFNAME IFLA_MTU IFLA_QDISC IFLA_STATS IFLA_MASTER
            IFLA_PROTINFO IFLA_TXQLEN IFLA_MAP IFLA_OPERSTATE IFLA_LINKMODE IFLA_LINKINFO IFLA_STATS64
            IFLA_AF_SPEC IFLA_GROUP IFLA_EXT_MASK IFLA_PROMISCUITY IFLA_NUM_TX_QUEUES
            IFLA_NUM_RX_QUEUES IFLA_CARRIER IFLA_CARRIER_CHANGES IFLA_PROTO_DOWN IFLA_GSO_MAX_SEGS
            IFLA_GSO_MAX_SIZE IFLA_XDP IFLA_TARGET_NETNSID IFLA_CARRIER_UP_COUNT
            IFLA_CARRIER_DOWN_COUNT IFLA_MIN_MTU IFLA_MAX_MTU IFLA_ALT_IFNAME
            IFA_ADDRESS IFA_LOCAL IFA_LABEL IFA_CACHEINFO IFA_FLAGS IFA_F_PERMANENT
            RTA_DST RTA_SRC RTA_OIF RTA_PRIORITY RTA_PREFSRC RTA_CACHEINFO RTA_TABLE RTA_PREF RTA_UID
            RT_TABLE_DEFAULT RT_TABLE_MAIN RT_TABLE_LOCAL RT_SCOPE_UNIVERSE RT_SCOPE_LINK
            RT_SCOPE_HOST RTN_LOCAL RTN_BROADCAST RTPROT_KERNEL
            RTM_F_CLONED RTM_F_PREFIX NDA_DST NDA_IFINDEX NDA_MASTER NTF_PROXY AF_BRIDGE ARPHRD_LOOPBACK
        }
    }
}
