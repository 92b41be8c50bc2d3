import { colord, extend, type RgbaColor } from 'colord';
import hwb from 'colord/plugins/hwb';
import lch from 'colord/plugins/lch';
import names from 'colord/plugins/names';
import { functionColor } from './colorfunction.js';

// The types describe the CommonJS build, whose plugin is nested one level deeper.
extend([names, hwb, lch].map(Object));

/** Colours that differ by less in each component are indistinguishable. */
const INDISTINCT = 12;
const UNSEEN_ALPHA = 0.05;

export const parseColor = (value: string): RgbaColor | null => nestedColor(value, 0);

const nestedColor = (value: string, depth: number): RgbaColor | null => {
  const color = colord(value === 'transparent' ? '#0000' : value);
  return color.isValid() ? color.toRgb() : functionColor(value, nestedColor, depth);
};

/** Returns null if it is unknown, such as for an image. */
export const backgroundColor = (value: string): RgbaColor | 'none' | null => {
  if (/^(none|initial|unset|inherit|revert)?$/.test(value)) return 'none';
  if (/url\(|gradient|image|var\(/.test(value)) return null;
  const parts = value.match(/[a-z-]+\([^()]*\)|[^\s()]+/g) ?? [];
  const color = [value, ...parts].map(parseColor).find((each) => each !== null);
  if (!color) return 'none';
  return color.a < UNSEEN_ALPHA ? 'none' : color;
};

export const isInvisibleColor = (color: RgbaColor, background: RgbaColor | null): boolean => {
  if (color.a < UNSEEN_ALPHA) return true;
  if (!background) return false;
  const { r, g, b } = background;
  return (
    Math.abs(color.r - r) < INDISTINCT &&
    Math.abs(color.g - g) < INDISTINCT &&
    Math.abs(color.b - b) < INDISTINCT
  );
};
