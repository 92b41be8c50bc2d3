import { zip } from '../documents/zip.js';

/** Prefixes of the elements of the package and of the container; '' for none. */
interface Prefixes {
  opf?: string;
  ocf?: string;
}

/** An EPUB book with this container and these files. */
export const ocf = (container: string, files: { name: string; content: string }[]): Buffer =>
  zip([
    { name: 'mimetype', content: 'application/epub+zip' },
    { name: 'META-INF/container.xml', content: container },
    ...files,
  ]);

/**
 * An EPUB book whose chapters have these addresses, and these names in the archive. `text` is
 * their only sentence, and `metadata` the properties of the book.
 */
export const opf = (
  hrefs: string[],
  { opf = '', ocf: outer = '' }: Prefixes = {},
  names = hrefs,
  text?: string,
  metadata = '',
): Buffer => {
  const [o, c] = [opf, outer].map((prefix) => (prefix === '' ? '' : `${prefix}:`));
  const ns = (prefix: string) => (prefix === '' ? 'xmlns' : `xmlns:${prefix}`);
  const items = hrefs.map(
    (href, at) => `<${o}item id="i${at}" href="${href}" media-type="application/xhtml+xml"/>`,
  );
  const order = hrefs.map((_, at) => `<${o}itemref idref="i${at}"/>`);
  const book = `<${o}package version="3.0" ${ns(opf)}="http://www.idpf.org/2007/opf"><${o}metadata>${metadata}</${o}metadata><${o}manifest>${items.join('')}</${o}manifest><${o}spine>${order.join('')}</${o}spine></${o}package>`;
  const root = `<${c}rootfile full-path="b.opf" media-type="application/oebps-package+xml"/>`;
  const container = `<${c}container version="1.0" ${ns(outer)}="urn:oasis:names:tc:opendocument:xmlns:container"><${c}rootfiles>${root}</${c}rootfiles></${c}container>`;
  const chapters = names.map((name, at) => ({
    name,
    content: `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title></head><body><p>${text ?? `Chapter ${at + 1} of the tide.`}</p></body></html>`,
  }));
  return ocf(container, [{ name: 'b.opf', content: book }, ...chapters]);
};
