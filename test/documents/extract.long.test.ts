import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import UTIF from 'utif2';
import { startApp, type TestApp, until } from '../harness/app.js';
import { type UploadedFile, upload } from '../harness/upload.js';
import { flatText, type Maker, openMaker, share, withPrograms } from './files.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const OVER = ['completed', 'failed', 'cancelled'];
const LETTER =
  'Thank you for your order of twelve brass lanterns. They will leave our workshop on the third ' +
  'of March and reach you within nine days. Please keep this letter, since it is the proof of ' +
  'your payment of four hundred pounds.';
const scan = (style = '') =>
  `<body style="margin:120px;font:34px/1.5 serif;background:#fff;${style}"><p>${LETTER}</p>`;
const inPdf = (picture: Buffer): string =>
  `<style>@page{margin:0}body{margin:0}</style><img style="width:100%" src="data:image/png;base64,${picture.toString('base64')}">`;

describe('the text of files by real programs', withPrograms, () => {
  let app: TestApp;
  let token: string;
  let maker: Maker;
  before(async () => {
    if (withPrograms.skip) return;
    app = await startApp();
    ({ token } = await app.register('ada'));
    maker = await openMaker();
  });
  after(async () => {
    await maker?.close();
    await app?.stop();
  });

  const get = (id: string) => app.call('GET', `/api/documents/${id}`, { token });
  const read = (id: string) =>
    until(
      async () => (await get(id)).body,
      ({ status }) => OVER.includes(status),
      90_000,
    );
  const put = async (file: UploadedFile, fields: Record<string, string> = {}) => {
    const { body } = await upload(app, token, [file], fields);
    return read(body.documents[0]?.id ?? '');
  };
  const textOf = async (name: string, content: Buffer): Promise<string> => {
    const document = await put({ name, content });
    expect([name, document.status, document.error]).to.equal([name, 'completed', null]);
    return document.ocrText;
  };

  it('is that of a PDF, page by page', async () => {
    const content = await maker.pdf(
      '<h1>Report</h1><p>The turbine at Übersee.</p><p style="page-break-before:always">Second',
    );
    const document = await put({ name: 'report.pdf', content });
    expect(document).to.include({ status: 'completed', pages: 2, ocr: 'none' });
    const pages = [1, 2].map((n) =>
      app.call('GET', `/api/documents/${document.id}/pages/${n}`, { token }),
    );
    expect((await Promise.all(pages)).map(({ body }) => body.text)).to.equal([
      'Report\nThe turbine at Übersee.',
      'Second',
    ]);
  });

  it('is recognized where a page is a picture, and only there', async () => {
    const picture = await maker.picture(scan());
    const content = await maker.pdf(
      `<p>A page with text that can be copied</p><div style="page-break-before:always">${inPdf(picture)}</div>`,
    );
    const document = await put({ name: 'mixed.pdf', content });
    expect(document).to.include({ status: 'completed', ocr: 'some' });
    expect(Number(document.confidence)).to.be.above(85);
    expect(document.ocrText).to.contain('A page with text that can be copied');
    const recognized = document.ocrText.slice(document.ocrText.indexOf('Thank'));
    expect(share(recognized, LETTER)).to.be.above(0.98);
  });

  it('is recognized on a page that lies on its side or upside down', async () => {
    for (const turn of [90, 180, 270]) {
      const content = await maker.picture(
        `<body style="margin:0;background:#fff"><div style="position:absolute;left:70px;top:750px;width:1100px;font:34px/1.5 serif;transform:rotate(${turn}deg)">${LETTER}</div>`,
      );
      const document = await put({ name: `turned${turn}.png`, content });
      expect([turn, document.status]).to.equal([turn, 'completed']);
      expect(share(document.ocrText, LETTER), String(turn)).to.be.above(0.95);
    }
  });

  it('is recognized on the pages of a TIFF file', async () => {
    const { createCanvas, loadImage } = await import('@napi-rs/canvas');
    const image = await loadImage(await maker.picture(scan()));
    const context = createCanvas(image.width, image.height).getContext('2d');
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    const content = Buffer.from(UTIF.encodeImage(new Uint8Array(data), image.width, image.height));
    const document = await put({ name: 'scan.tiff', content });
    expect(document).to.include({ status: 'completed', pages: 1, ocr: 'all', error: null });
    expect(share(document.ocrText, LETTER)).to.be.above(0.98);
  });

  it('is recognized in another language', async () => {
    const words = 'Für die Schließung der Straße benötigen wir größere Schlüssel und Überstunden.';
    const content = await maker.picture(
      `<body style="margin:120px;font:34px/1.5 serif;background:#fff"><p>${words}</p>`,
    );
    const document = await put({ name: 'german.png', content }, { language: 'deu' });
    expect(document.language).to.equal('deu');
    expect(share(document.ocrText, words)).to.be.above(0.98);
  });

  it('is that of office files', async () => {
    const written = ['The turbine at Übersee', '日本語のテキスト', 'Third'];
    const text = flatText(...written);
    for (const to of ['docx', 'odt', 'rtf']) {
      const content = await maker.convert(text, { from: 'fodt', to });
      expect((await textOf(`text.${to}`, content)).split('\n'), to).to.equal(written);
    }
    const table = Buffer.from('name,amount\nMiller,12\nGrace,7\n');
    for (const to of ['xlsx', 'ods']) {
      const content = await maker.convert(table, { from: 'csv', to });
      expect(await textOf(`table.${to}`, content), to).to.equal(
        'name\tamount\nMiller\t12\nGrace\t7',
      );
    }
    const printed = await maker.convert(flatText('The turbine at Übersee'), {
      from: 'fodt',
      to: 'pdf',
    });
    expect(await textOf('text.pdf', printed)).to.equal('The turbine at Übersee');
  });

  it('is that of an encrypted PDF once its password is given, which is not kept', async () => {
    const plain = await maker.pdf('<p>Behind a password');
    const content = await maker.qpdf(plain, '--encrypt', 'open-sesame', 'owner', '256', '--');
    const locked = await put({ name: 'locked.pdf', content });
    expect(locked).to.include({ status: 'failed', code: 'password_needed', ocrText: '' });
    const again = async (password: string) => {
      const reply = await app.call('POST', `/api/documents/${locked.id}/reprocess`, {
        token,
        body: { password },
      });
      expect(reply.status).to.equal(202);
      return read(locked.id);
    };
    expect(await again('wrong')).to.include({ status: 'failed', code: 'password_needed' });
    expect(await again('open-sesame')).to.include({
      status: 'completed',
      code: null,
      ocrText: 'Behind a password',
    });
    const operations = await app.call('GET', '/api/operations?kind=documents.read', { token });
    expect(JSON.stringify(operations.body)).to.not.contain('sesame');
  });

  it('is that of a message and of the files in it', async () => {
    const pdf = await maker.pdf('<p>The attached report');
    const content = [
      'From: Grace Hopper <grace@example.org>',
      'To: ada@example.org',
      'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=',
      'Date: Mon, 2 Mar 2026 10:00:00 +0000',
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: text/plain; charset=utf-8',
      '',
      'See the file.',
      '--b',
      'Content-Type: application/pdf',
      'Content-Disposition: attachment; filename="report.pdf"',
      'Content-Transfer-Encoding: base64',
      '',
      pdf.toString('base64'),
      '--b--',
      '',
    ].join('\r\n');
    const text = await textOf('mail.eml', Buffer.from(content));
    expect(text).to.contain('# Grüße\nFrom: Grace Hopper <grace@example.org>');
    expect(text).to.contain('See the file.');
    expect(text).to.contain('The attached report');
  });

  it('is not that of damaged files, and they stop nothing', async () => {
    const pdf = await maker.pdf('<p>Whole');
    const cut = await put({ name: 'cut.pdf', content: pdf.subarray(0, 300) });
    expect(cut).to.include({ status: 'failed', code: 'damaged' });
    const png = await maker.picture(scan());
    const torn = await put({ name: 'torn.png', content: png.subarray(0, 20) });
    expect(torn.error).to.be.a.string();
    expect(torn.ocrText).to.equal('');
    const good = await put({ name: 'good.txt', content: 'after them' });
    expect(good.status).to.equal('completed');
  });
});
