import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { convertPage } from '../../../src/providers/pages/convert.js';

export const lab = Lab.script();
const { describe, it } = lab;

const WISH = { format: 'text', isWhole: true, hasAddresses: false, most: 10_000 } as const;

const textOf = async (html: string): Promise<string | null> => {
  const body = Buffer.from(html);
  return (await convertPage({ body, contentType: 'text/html', url: 'https://a.example/' }, WISH))
    .content;
};

/** Styles that hide the text of an element. */
const HIDING = [
  'font-size:calc(0px)',
  'font-size:calc(1px - 1px)',
  'font-size:min(0px, 9px)',
  'opacity:calc(0)',
  'filter:opacity(0)',
  'zoom:.01',
  'position:absolute;left:-200%',
  'position:absolute;left:calc(-1 * 9999px)',
  'position:absolute;inset-inline-start:-9999px',
  'margin-left:calc(0px - 9999px)',
  'margin-inline-start:-9999px',
  'margin-top:-9999px',
  'translate:-9999px',
  'scale:0',
  'transform:matrix(0,0,0,0,0,0)',
  'transform:rotateY(90deg)',
  "clip-path:path('M0 0')",
  'width:0;overflow:hidden',
  'max-width:0;overflow:hidden',
  'block-size:0;overflow:hidden',
  '-webkit-text-fill-color:transparent',
  'color:hwb(0 100% 0%)',
  'color:lch(100% 0 0)',
  'color:oklch(1 0 0)',
  'color:oklch(100% 0% none / 1)',
  'color:oklab(0.99 0 0)',
  'color:color(srgb 1 1 1)',
  'color:color(srgb 0 0 0 / 0)',
  'color:light-dark(white, black)',
  'color:light-dark(rgb(255, 255, 255), black)',
  'color:color-mix(in srgb, white, white)',
  'color:color-mix(in oklab, black 1%, rgb(255, 255, 255))',
  'color:color-mix(in srgb, transparent, transparent 50%)',
  'color:#123;background:color-mix(in srgb, #123, #123)',
  'color:oklch(0.628 0.2577 29.23);background:red',
];
/** Styles that look like those and hide nothing. */
const SHOWING = [
  'font-size:calc(1px + 1em)',
  'font-size:max(0px, 9px)',
  'opacity:calc(1)',
  'filter:opacity(80%)',
  'zoom:1.5',
  'position:absolute;left:20%',
  'margin-left:calc(2 * 10px)',
  'translate:10px',
  'scale:0.9',
  'transform:matrix(1,0,0,1,0,0)',
  'width:0',
  'width:200px;overflow:hidden',
  'color:hwb(0 0% 0%)',
  'color:oklch(0 0 0)',
  'color:oklab(0.4 0.1 0.1)',
  'color:light-dark(black, white)',
  'color:color-mix(in srgb, white, black)',
  'color:color-mix(in srgb, white 10%, black 20%)',
  'color:color(srgb 0.2 0.2 0.2)',
  'color:color(display-p3 1 1 1);background:black',
  'color:light-dark(light-dark(light-dark(light-dark(light-dark(white, white), white), white), white), white)',
];

describe('text that a page hides', () => {
  it('is left out, by whatever style', async () => {
    const shown: string[] = [];
    for (const style of HIDING) {
      const text = await textOf(`<p>seen</p><div style="${style}">secret</div>`);
      if (text !== 'seen') shown.push(style);
    }
    expect(shown).to.equal([]);
  });

  it('is all that is left out', async () => {
    const missing: string[] = [];
    for (const style of SHOWING) {
      const text = await textOf(`<p>seen</p><div style="${style}">text</div>`);
      if (text !== 'seen\ntext') missing.push(style);
    }
    expect(missing).to.equal([]);
  });

  it('is left out where elements or opacities together hide it', async () => {
    const third = '<div style="opacity:.3">';
    expect(await textOf(`a${third}${third}${third}secret`)).to.equal('a');
    expect(await textOf('a<font color=white>secret</font>')).to.equal('a');
    expect(await textOf('a<div popover>secret</div><meter>secret</meter>')).to.equal('a');
  });
});
