/** Ours: the screen for which a page is read, in pixels. */
const SCREEN = { width: 1280, height: 800 };
const FONT_PX = 16;

/** Returns true if a media query holds on a screen. What is not known here holds. */
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

/** Returns a length in pixels; null if it is not one that is known without a layout. */
export const pixels = (length: string, fontPx = FONT_PX): number | null => {
  const [, amount, unit = ''] =
    /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)([a-z]*|%)$/.exec(length.trim().toLowerCase()) ?? [];
  if (amount === undefined) return null;
  const factor = unit === '' && Number(amount) === 0 ? 1 : factorOf(unit, fontPx);
  return factor === undefined ? null : Number(amount) * factor;
};

const factorOf = (unit: string, fontPx: number): number | undefined => {
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
