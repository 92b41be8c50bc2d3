import { deflateSync } from 'node:zlib';

/** A page of A4 in a PDF file (ISO 32000-1). */
interface PdfPage {
  /** The operators of its content. */
  content?: string;
  /** The dictionaries of its annotations. */
  annotations?: string[];
  /** Further entries of the dictionary of the form, of which all annotations are fields. */
  form?: string;
  /** A gray picture, which covers this share of the page's height. */
  scan?: number;
  title?: string;
}

const GRAY = { width: 40, height: 56 };

/** Lines of text below each other, the first at 700. */
export const lines = (...texts: string[]): string =>
  `BT /F 12 Tf 16 TL 72 700 Td ${texts.map((text) => `(${text}) Tj T*`).join(' ')} ET`;

const stream = (dictionary: string, bytes: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`<<${dictionary}/Length ${bytes.length}>>stream\n`),
    bytes,
    Buffer.from('\nendstream'),
  ]);

const picture = (): Buffer => {
  // Not of one colour, as no scan is.
  const pixels = Buffer.alloc(GRAY.width * GRAY.height, 255).fill(0, 400, 600);
  const size = `/Width ${GRAY.width}/Height ${GRAY.height}/ColorSpace/DeviceGray/BitsPerComponent 8`;
  return stream(`/Type/XObject/Subtype/Image${size}/Filter/FlateDecode`, deflateSync(pixels));
};

/** A PDF file of one page. */
export const onePage = ({
  content = '',
  annotations = [],
  form,
  scan,
  title = '',
}: PdfPage): Buffer => {
  const refs = annotations.map((_, at) => `${7 + at} 0 R`).join(' ');
  const acro = form === undefined ? '' : `/AcroForm<</Fields[${refs}]/DA(/F 12 Tf 0 g)${form}>>`;
  const drawn = scan === undefined ? '' : `q 595 0 0 ${842 * scan} 0 0 cm /I Do Q `;
  const objects: (string | Buffer)[] = [
    `<</Type/Catalog/Pages 2 0 R${acro}>>`,
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Annots[${refs}]/Resources<</Font<</F 5 0 R>>/XObject<</I 6 0 R>>>>>>`,
    stream('', Buffer.from(drawn + content, 'latin1')),
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    picture(),
    ...annotations,
    `<</Title(${title})>>`,
  ];
  let file = Buffer.from('%PDF-1.7\n');
  const places = objects.map((object, at) => {
    const place = file.length;
    const body = typeof object === 'string' ? Buffer.from(object, 'latin1') : object;
    file = Buffer.concat([file, Buffer.from(`${at + 1} 0 obj\n`), body, Buffer.from('\nendobj\n')]);
    return `${String(place).padStart(10, '0')} 00000 n \n`;
  });
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join('')}`;
  const end = `trailer<</Size ${objects.length + 1}/Root 1 0 R/Info ${objects.length} 0 R>>\nstartxref\n${file.length}\n%%EOF\n`;
  return Buffer.concat([file, Buffer.from(table + end)]);
};

/** The place of an annotation in the line at a height. */
export const beside = (y: number, x = 200): string => `/Rect[${x} ${y} ${x + 200} ${y + 14}]/F 4`;

/** A box of a form that is ticked, or not. */
export const box = (name: string, state: 'On' | 'Off', place: string): string =>
  `<</Type/Annot/Subtype/Widget/FT/Btn/T(${name})/V/${state}/AS/${state}/AP<</N<</On 5 0 R/Off 5 0 R>>>>${place}>>`;
