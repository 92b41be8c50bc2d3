/** Assumed screen size, in pixels. */
const SCREEN = { width: 1280, height: 800 };
const FONT_PX = 16;

/** Unknown conditions count as true. */
export const isForScreen = (query: string): boolean =>
  query
    .toLowerCase()
    .split(',')
    .some((part) => {
      const isNegated = /^\s*not\s/.test(part);
      return holds(part.replace(/^\s*(not|only)\s+/, '')) !== isNegated;
    });

const holds = (query: string): boolean => {
  const type = /^\s*([a-z-]+)/.exec(query)?.[1];
  if (type !== undefined && type !== 'all' && type !== 'screen') return false;
  return [...query.matchAll(/\(([^()]*)\)/g)].every(([, feature = '']) => isFeature(feature));
};

const isFeature = (feature: string): boolean => {
  const [name = '', value = ''] = feature.split(':').map((part) => part.trim());
  const [, bound, side] = /^(min|max)-(?:device-)?(width|height)$/.exec(name) ?? [];
  if (bound !== undefined) {
    const size = SCREEN[side === 'height' ? 'height' : 'width'];
    const limit = pixels(value);
    if (limit === null) return true;
    return bound === 'min' ? size >= limit : size <= limit;
  }
  const range = /^(width|height)\s*([<>])=?\s*(.+)$/.exec(feature.trim());
  if (range) {
    const size = SCREEN[range[1] === 'height' ? 'height' : 'width'];
    const limit = pixels(range[3] ?? '');
    if (limit === null) return true;
    return range[2] === '>' ? size >= limit : size <= limit;
  }
  if (name === 'orientation') return value !== 'portrait';
  if (name === 'prefers-color-scheme') return value !== 'dark';
  return !/^(prefers-|forced-colors|inverted-colors|scripting$)/.test(name);
};

/** Returns null if the length depends on the layout. */
export const pixels = (length: string, fontPx = FONT_PX): number | null => {
  const given = length.trim().toLowerCase();
  const [, called, terms] = /^(calc|min|max)\(([^()]{1,200})\)$/.exec(given) ?? [];
  if (terms === undefined) return plainPixels(given, fontPx);
  const values = terms.split(',').map((sum) => evaluateSum(sum, fontPx));
  const known = values.filter((value) => value !== null);
  if (known.length < values.length || (called === 'calc' && known.length > 1)) return null;
  return called === 'max' ? Math.max(...known) : Math.min(...known);
};

/** CSS Values 4, 10. */
const evaluateSum = (sum: string, fontPx: number): number | null => {
  const terms = sum.trim().split(/\s+(?=[+-]\s)/);
  const values = terms.map((term) => {
    const [, sign, product = ''] = /^([+-]\s+)?(.*)$/.exec(term) ?? [];
    const value = evaluateProduct(product, fontPx);
    return value !== null && sign?.startsWith('-') ? -value : value;
  });
  return values.reduce<number | null>(
    (total, value) => (total === null || value === null ? null : total + value),
    0,
  );
};

const evaluateProduct = (product: string, fontPx: number): number | null => {
  const [first = '', ...more] = product.split(/\s*(?=[*/])/);
  return more.reduce(
    (value: number | null, factor) => {
      const by = parseCssNumber(factor.slice(1), fontPx);
      if (value === null || by === null) return null;
      return factor.startsWith('*') ? value * by : value / by;
    },
    parseCssNumber(first, fontPx),
  );
};

const parseCssNumber = (text: string, fontPx: number): number | null => {
  const given = text.trim();
  return /^[+-]?[\d.]+$/.test(given) ? Number(given) : plainPixels(given, fontPx);
};

const plainPixels = (length: string, fontPx: number): number | null => {
  const [, amount, unit = ''] =
    /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)([a-z]*|%)$/.exec(length) ?? [];
  if (amount === undefined) return null;
  const factor = unit === '' && Number(amount) === 0 ? 1 : getUnitFactor(unit, fontPx);
  return factor === undefined ? null : Number(amount) * factor;
};

const getUnitFactor = (unit: string, fontPx: number): number | undefined => {
  const factors = new Map([
    ['px', 1],
    ['pt', 4 / 3],
    ['pc', 16],
    ['in', 96],
    ['cm', 96 / 2.54],
    ['mm', 96 / 25.4],
    ['em', fontPx],
    ['rem', FONT_PX],
    ['ch', fontPx / 2],
    ['ex', fontPx / 2],
    ['vw', SCREEN.width / 100],
    ['vh', SCREEN.height / 100],
  ]);
  return factors.get(unit);
};
