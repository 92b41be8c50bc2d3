import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { crc32, createDeflateRaw, deflateSync } from 'node:zlib';

const MIB = 1024 * 1024;

/** Packs text that repeats itself over so many bytes, as the files of an archive are packed. */
export const packedRepeats = (head: string, unit: string, bytes: number): Promise<Buffer> => {
  const piece = Buffer.from(unit.repeat(Math.ceil(MIB / unit.length)));
  const pieces = function* () {
    yield Buffer.from(head);
    for (let written = head.length; written < bytes; written += piece.length) yield piece;
  };
  return buffer(Readable.from(pieces()).pipe(createDeflateRaw()));
};

/** A PNG picture that says that it has this size, with so many bytes of pixels. */
export const pngOfSize = (width: number, height: number, bytes: number): Buffer => {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = 1;
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', head),
    pngChunk('IDAT', deflateSync(Buffer.alloc(bytes))),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
};

const pngChunk = (kind: string, content: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(kind), content]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
};

/** A GIF picture (89a) of 16 × 16 pixels, whose frame says that it has 60,000 × 60,000. */
export const gifOfLyingFrame = (): Buffer =>
  Buffer.from('47494638396110001000800000000000ffffff2c0000000060ea60ea0002024c01003b', 'hex');

/** A PDF of so many pages, each with its number as text; `root` and `page` stand in its objects. */
export const pdfOf = (pages: number, { root = '', page = '' } = {}): Buffer => {
  const objects = ['', '', '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>'];
  const kids: string[] = [];
  for (let number = 1; number <= pages; number++) {
    const text = `BT /F 12 Tf 50 700 Td (Page number ${number} of the book) Tj ET`;
    const id = objects.length + 1;
    kids.push(`${id} 0 R`);
    objects.push(
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F 3 0 R>>>>/Contents ${id + 1} 0 R ${page}>>`,
      `<</Length ${text.length}>>stream\n${text}\nendstream`,
    );
  }
  objects[0] = `<</Type/Catalog/Pages 2 0 R ${root}>>`;
  objects[1] = `<</Type/Pages/Count ${pages}/Kids[${kids.join(' ')}]>>`;
  let text = '%PDF-1.7\n';
  const places = objects.map((object, index) => {
    const place = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(place).padStart(10, '0')} 00000 n \n`;
  });
  const size = objects.length + 1;
  return Buffer.from(
    `${text}xref\n0 ${size}\n0000000000 65535 f \n${places.join('')}trailer<</Size ${size}/Root 1 0 R>>\nstartxref\n${text.length}\n%%EOF`,
  );
};

/** A message whose one file is a message whose one file is a message, so many deep. */
export const nestedMessages = (depth: number): string => {
  let message = 'Subject: innermost\r\nContent-Type: text/plain\r\n\r\nthe innermost\r\n';
  for (let level = depth; level > 0; level--) {
    message =
      `Subject: level ${level}\r\nContent-Type: multipart/mixed; boundary=b${level}\r\n\r\n` +
      `--b${level}\r\nContent-Type: message/rfc822\r\nContent-Disposition: attachment; filename=m${level}.eml\r\n\r\n` +
      `${message}\r\n--b${level}--\r\n`;
  }
  return message;
};
