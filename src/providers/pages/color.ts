import { colord, extend, type RgbaColor } from 'colord';
import hwb from 'colord/plugins/hwb';
import lch from 'colord/plugins/lch';
import names from 'colord/plugins/names';
import { functionColor } from './colorfunction.js';

// Its types describe the CommonJS build, whose plugin lies one level deeper.
extend([names, hwb, lch].map(Object));

/** Ours: colours that differ by less in each part cannot be told from each other. */
const INDISTINCT = 12;
const UNSEEN_ALPHA = 0.05;

/** Returns a colour; null if it is not one that is known. */
export const colorOf = (value: string): RgbaColor | null => nestedColor(value, 0);

const nestedColor = (value: string, depth: number): RgbaColor | null => {
  const color = colord(value === 'transparent' ? '#0000' : value);
  return color.isValid() ? color.toRgb() : functionColor(value, nestedColor, depth);
};

/** Returns the colour of a background; null if it is not known, as with an image. */
export const backgroundColor = (value: string): RgbaColor | 'none' | null => {
  if (/^(none|initial|unset|inherit|revert)?$/.test(value)) return 'none';
  if (/url\(|gradient|image|var\(/.test(value)) return null;
  const parts = value.match(/[a-z-]+\([^()]*\)|[^\s()]+/g) ?? [];
  const color = [value, ...parts].map(colorOf).find((each) => each !== null);
  if (!color) return 'none';
  return color.a < UNSEEN_ALPHA ? 'none' : color;
};

/** True if text of this colour cannot be seen on the background. */
export const isUnseen = (color: RgbaColor, background: RgbaColor | null): boolean => {
  if (color.a < UNSEEN_ALPHA) return true;
  if (!background) return false;
  const { r, g, b } = background;
  return (
    Math.abs(color.r - r) < INDISTINCT &&
    Math.abs(color.g - g) < INDISTINCT &&
    Math.abs(color.b - b) < INDISTINCT
  );
};
