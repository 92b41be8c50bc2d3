import { zip } from './zip.js';

export const ODS = 'application/vnd.oasis.opendocument.spreadsheet';
export const HEAD = '<?xml version="1.0" encoding="UTF-8"?>';

/** A spreadsheet of these tables by their names. */
export const spreadsheet = (sheets: Record<string, string>): Buffer => {
  const tables = Object.entries(sheets).map(
    ([name, rows]) => `<table:table table:name="${name}">${rows}</table:table>`,
  );
  const body = `<office:body><office:spreadsheet>${tables.join('')}</office:spreadsheet></office:body>`;
  return zip([
    { name: 'mimetype', content: ODS },
    {
      name: 'content.xml',
      content: `${HEAD}<office:document-content>${body}</office:document-content>`,
    },
  ]);
};
export const row = (cells: string, attributes = ''): string =>
  `<table:table-row ${attributes}>${cells}</table:table-row>`;
export const cell = (text: string, attributes = ''): string =>
  `<table:table-cell ${attributes}><text:p>${text}</text:p></table:table-cell>`;
export const columns = (count: number): string => `table:number-columns-repeated="${count}"`;
export const rows = (count: number): string => `table:number-rows-repeated="${count}"`;
