/** The variables that name a proxy to other programs, such as curl. */
const PROXIES = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'];

/**
 * Returns the sentence about the proxy that the environment names, and that the daemon does not use,
 * because it checks the address of each connection, which it could not do behind a proxy. null if none
 * is named, or with `NO_PROXY=*`.
 */
export const unusedProxy = (environment: NodeJS.ProcessEnv = process.env): string | null => {
  const proxyIn = (name: string): string =>
    environment[name] || environment[name.toLowerCase()] || '';
  const names = proxyIn('NO_PROXY').trim() === '*' ? [] : PROXIES.filter((name) => proxyIn(name));
  if (names.length === 0) return null;
  return `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} set, and the daemon uses no proxy`;
};
