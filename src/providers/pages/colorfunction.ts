import type { RgbaColor } from 'colord';

/** Maximum nesting of colour functions. */
const MAX_DEPTH = 4;

/**
 * Parses colour functions that colord does not support (CSS Color 4 and 5). Returns null for
 * others. Of `light-dark()` the light colour is used.
 */
export const functionColor = (
  value: string,
  readColor: (inner: string, depth: number) => RgbaColor | null,
  depth = 0,
): RgbaColor | null => {
  const [, name = '', argument = ''] =
    /^(light-dark|color-mix|oklch|oklab|color)\((.*)\)$/.exec(value) ?? [];
  if (name === '' || depth >= MAX_DEPTH) return null;
  const read = (inner = ''): RgbaColor | null => readColor(inner.trim(), depth + 1);
  if (name === 'light-dark') return read(argumentsIn(argument)[0]);
  if (name === 'color-mix') return mixed(argumentsIn(argument).slice(1), read);
  const numbers = numbersIn(argument, name);
  if (numbers === null) return null;
  const [first, second, third, a] = numbers;
  if (name === 'oklab') return fromOklab(first, second, third, a);
  if (name === 'oklch') {
    const hue = (third * Math.PI) / 180;
    return fromOklab(first, second * Math.cos(hue), second * Math.sin(hue), a);
  }
  return { r: first * 255, g: second * 255, b: third * 255, a };
};

const argumentsIn = (argument: string): string[] => {
  const found = [''];
  let open = 0;
  for (const character of argument) {
    if (character === '(') open++;
    if (character === ')') open--;
    if (character === ',' && open === 0) found.push('');
    else found.push(`${found.pop()}${character}`);
  }
  return found;
};

/** Mixes in sRGB regardless of the colour space, because equal colours stay equal. */
const mixed = (argument: string[], read: (inner: string) => RgbaColor | null): RgbaColor | null => {
  const [one, two] = argument.map((each) => {
    const share = /(?:^|\s)([\d.]+)%(?:\s|$)/.exec(each)?.[1];
    return {
      color: read(each.replace(/(^|\s)[\d.]+%(?=\s|$)/, ' ')),
      share: share === undefined ? null : Number(share) / 100,
    };
  });
  if (!one?.color || !two?.color) return null;
  const first = one.share ?? 1 - (two.share ?? 0.5);
  const second = two.share ?? 1 - first;
  const weight = first + second > 0 ? second / (first + second) : 0;
  const between = (from: number, to: number): number => from + (to - from) * weight;
  const { color: from } = one;
  const { color: to } = two;
  return {
    r: between(from.r, to.r),
    g: between(from.g, to.g),
    b: between(from.b, to.b),
    a: between(from.a, to.a) * Math.min(1, first + second),
  };
};

const numbersIn = (argument: string, name: string): [number, number, number, number] | null => {
  const [, space, text = ''] = /^\s*(?:(srgb)\s)?(.*)$/.exec(argument) ?? [];
  if ((name === 'color') !== (space === 'srgb')) return null;
  const scales =
    name === 'color' ? [1, 1, 1, 1] : name === 'oklab' ? [1, 0.4, 0.4, 1] : [1, 0.4, 1, 1];
  const parts = text.split(/[\s/]+/).filter((part) => part !== '');
  const numbers = parts.map((part, at) => {
    if (part === 'none') return 0;
    const [, number, unit] = /^(-?[\d.]+)(%|deg)?$/.exec(part) ?? [];
    return unit === '%' ? (Number(number) / 100) * (scales[at] ?? 1) : Number(number);
  });
  const [first = Number.NaN, second = Number.NaN, third = Number.NaN, alpha = 1] = numbers;
  const found: [number, number, number, number] = [first, second, third, alpha];
  return found.every(Number.isFinite) ? found : null;
};

/** CSS Color 4, 18. */
const fromOklab = (lightness: number, a: number, b: number, alpha: number): RgbaColor => {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const gamma = (linear: number): number => {
    const share = Math.min(1, Math.max(0, linear));
    return 255 * (share <= 0.0031308 ? 12.92 * share : 1.055 * share ** (1 / 2.4) - 0.055);
  };
  return {
    r: gamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    g: gamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    b: gamma(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
    a: alpha,
  };
};
