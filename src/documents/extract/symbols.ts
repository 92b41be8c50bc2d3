export const TICKED = '☒';
export const UNTICKED = '☐';

const FONTS: Record<string, Record<string, string>> = {
  wingdings: {
    ...{ fe: TICKED, fd: TICKED, a8: UNTICKED, '6f': UNTICKED, '71': UNTICKED, '72': UNTICKED },
    ...{ fc: '✓', fb: '✗', e0: '→', df: '←', a7: '•', '6c': '•', '6e': '•' },
  },
  'wingdings 2': {
    ...{ '52': TICKED, '53': TICKED, '54': TICKED, a3: UNTICKED, '2a': UNTICKED, '30': UNTICKED },
    ...{ '50': '✓', '4f': '✗' },
  },
  symbol: { b7: '•', ae: '→', ac: '←', b1: '±', b0: '°', a3: '≤', b3: '≥', b4: '×', b8: '÷' },
};

export const findSymbol = (font: string, code: string): string | null => {
  const place = code.toLowerCase().replace(/^(?:0x)?(?:f0|00)(?=..$)/, '');
  return FONTS[font.toLowerCase()]?.[place] ?? null;
};

/** Replaces private-use characters of the Wingdings font for check boxes. */
export const replaceCheckBoxes = (text: string): string =>
  text.replace(/[\uf06f\uf071\uf072\uf0a8\uf0fd\uf0fe]/g, (sign) => {
    const code = sign.charCodeAt(0).toString(16);
    return findSymbol('Wingdings', code) ?? sign;
  });
