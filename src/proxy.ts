/** Variables that name a proxy for other programs, such as curl. */
const PROXIES = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'];

/**
 * The remark about a proxy in the environment, which the daemon does not use: it checks the address of
 * each connection, and could not do so behind a proxy. Null if there is none, or with `NO_PROXY=*`.
 */
export const unusedProxyNote = (environment: NodeJS.ProcessEnv = process.env): string | null => {
  const proxyIn = (name: string): string =>
    environment[name] || environment[name.toLowerCase()] || '';
  const isUnwanted = proxyIn('NO_PROXY')
    .split(/[\s,]+/)
    .includes('*');
  const names = isUnwanted ? [] : PROXIES.filter((name) => proxyIn(name));
  if (names.length === 0) return null;
  return `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} set, but the daemon does not use proxies`;
};
