import { crc32, deflateRawSync } from 'node:zlib';

/** A file of an archive: its content, or bytes that are packed with the size that is told of them. */
export type ZipFile = { name: string } & (
  | { content: string | Uint8Array }
  | { packed: Uint8Array; bytes: number }
);

/** Writes a ZIP archive of these files, which may lie about their sizes (APPNOTE 4.3). */
export const zip = (files: ZipFile[]): Buffer => {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let at = 0;
  for (const file of files) {
    const name = Buffer.from(file.name);
    const packed = 'packed' in file ? Buffer.from(file.packed) : deflateRawSync(file.content);
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt16LE(0x800, 2);
    head.writeUInt16LE(8, 4);
    head.writeUInt32LE('packed' in file ? 0 : crc32(file.content), 10);
    head.writeUInt32LE(packed.length, 14);
    head.writeUInt32LE('packed' in file ? file.bytes : Buffer.byteLength(file.content), 18);
    head.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), head, name, packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(at, 10);
    const version = Buffer.from([20, 0]);
    central.push(Buffer.concat([Buffer.from('PK\x01\x02'), version, head, place, name]));
    locals.push(local);
    at += local.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...locals, directory, Buffer.from('PK\x05\x06'), end]);
};

const CONTAINER =
  '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>' +
  '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>';

/** Writes an EPUB book (EPUB 3.3) whose reading order is that of these chapters. */
export const book = (chapters: ZipFile[]): Buffer => {
  const items = chapters.map(
    ({ name }, at) => `<item id="c${at}" href="${name}" media-type="application/xhtml+xml"/>`,
  );
  const order = chapters.map((_, at) => `<itemref idref="c${at}"/>`);
  const opf = `<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><manifest>${items.join('')}</manifest><spine>${order.join('')}</spine></package>`;
  // The files lie in the archive in another order than that in which they are read.
  const files = chapters
    .map((file) => ({ ...file, name: `OEBPS/${decodeURI(file.name)}` }))
    .reverse();
  return zip([
    { name: 'mimetype', content: 'application/epub+zip' },
    { name: 'META-INF/container.xml', content: CONTAINER },
    { name: 'OEBPS/book.opf', content: opf },
    ...files,
  ]);
};
