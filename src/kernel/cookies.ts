import type { CookieJar } from 'tough-cookie';

/** Cookies of one call and its redirects (RFC 6265). */
export interface Cookies {
  headerFor(url: URL): string;
  keep(url: URL, values: string[]): Promise<void>;
}

/**
 * Ports are separate, unlike in browsers, because two services on one host need not trust each
 * other.
 */
export const createCookies = (): Cookies => {
  const jars = new Map<string, CookieJar>();
  return {
    headerFor: (url) => jars.get(url.port)?.getCookieStringSync(url.href) ?? '',
    keep: async (url, values) => {
      if (values.length === 0) return;
      const { CookieJar } = await import('tough-cookie');
      const jar = jars.get(url.port) ?? new CookieJar();
      jars.set(url.port, jar);
      for (const value of values) jar.setCookieSync(value, url.href, { ignoreError: true });
    },
  };
};
