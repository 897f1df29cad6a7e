import ipaddr from 'ipaddr.js';

/**
 * Why a request must not go to this address; undefined if it is public. Every range that the registries reserve is
 * refused: loopback, private and shared networks, link-local (the address of credentials in clouds), multicast,
 * documentation, and IPv4 inside IPv6 in every form (mapped, compatible, translated, 6to4, Teredo).
 */
export function whyNotPublic(address: string): string | undefined {
  // `fe80::1%eth0`: an address with a zone is always local.
  if (address.includes('%') || !ipaddr.isValid(address)) return 'it is not an address';
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  if (range !== 'unicast') return `it is ${WORDS[range] ?? 'reserved'}`;
  // Only 2000::/3 is assigned for use on the internet.
  if (parsed instanceof ipaddr.IPv6 && !parsed.match(GLOBAL_UNICAST)) return 'it is reserved';
  return undefined;
}

const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

const WORDS: Readonly<Record<string, string>> = {
  unspecified: 'this machine',
  loopback: 'this machine',
  private: 'in a private network',
  uniqueLocal: 'in a private network',
  deprecatedSiteLocal: 'in a private network',
  carrierGradeNat: 'in a private network',
  linkLocal: 'link-local',
  multicast: 'a multicast address',
  broadcast: 'a broadcast address',
};
