import type { CookieJar } from 'tough-cookie';

/** The cookies of one call, from the replies that set them to the requests after these (RFC 6265). */
export interface Cookies {
  /** Returns the value of the header Cookie for a request; '' if there is none. */
  headerFor(url: URL): string;
  /** Keeps the values of Set-Cookie headers; those that are not valid for the URL are left out. */
  keep(url: URL, values: string[]): Promise<void>;
}

/**
 * Creates an empty jar. Ports are kept apart, unlike in browsers, because two services on one host
 * need not trust each other. The library is loaded with the first cookie.
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
