/** A PDF file (ISO 32000-1) with one line of Latin text per page. */
export const pdfOf = (...lines: string[]): Buffer => {
  const kids = lines.map((_, at) => `${4 + at * 2} 0 R`).join(' ');
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${lines.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...lines.flatMap((line, at) => {
      const content = `BT /F1 12 Tf 40 700 Td (${line}) Tj ET`;
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${5 + at * 2} 0 R ` +
          '/Resources << /Font << /F1 3 0 R >> >> >>',
        `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      ];
    }),
  ];
  let file = '%PDF-1.4\n';
  const offsets = objects.map((object, at) => {
    const offset = file.length;
    file += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, '0')} 00000 n \n`;
  });
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join('')}`;
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\n`;
  return Buffer.from(`${file}${table}${trailer}startxref\n${file.length}\n%%EOF\n`, 'latin1');
};
