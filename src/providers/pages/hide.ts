import type { RgbaColor } from 'colord';
import { backgroundColor, isInvisibleColor, parseColor } from './color.js';
import { pixels } from './media.js';
import { cleanTexts } from './sanitize.js';
import { type DeclaredStyle, declaredStyles } from './styles.js';
import {
  isElement,
  isTextNode,
  type PageDocument,
  type PageElement,
  type PageNode,
  type PageTree,
  parsePage,
} from './tree.js';

/** Text at this distance from the screen is invisible. */
const FAR_PX = 500;
const BESIDE_PX = 3000;
const MIN_FONT_PX = 2;
const UNSEEN_OPACITY = 0.05;

/** Inherited properties that affect visibility. */
interface Visibility {
  isVisible: boolean;
  opacity: number;
  fontPx: number;
  color: RgbaColor | null;
  background: RgbaColor | null;
  isIndentedAway: boolean;
}

const PAGE: Visibility = {
  isVisible: true,
  opacity: 1,
  fontPx: 16,
  color: { r: 0, g: 0, b: 0, a: 1 },
  background: { r: 255, g: 255, b: 255, a: 1 },
  isIndentedAway: false,
};

/**
 * Removes hidden content by attributes and styles. Effects of scripts are unknown. Returns the
 * number of removed characters.
 */
const removeHidden = ({ document, css }: PageTree): number => {
  let characters = 0;
  const remove = (node: PageNode): void => {
    characters += (node.textContent ?? '').replace(/\s+/g, ' ').trim().length;
    node.remove();
  };
  const styleOf = declaredStyles(document, css);
  const root = document.documentElement;
  const open: [PageElement, Visibility][] = [[root, PAGE]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [element, above] = next;
    const style = styleOf(element);
    // A page that hides itself completely is shown by a script or animation.
    const isRoot = element === root || element === document.body || element === document.head;
    if (!isRoot && isHidden(element, style)) {
      remove(element);
      continue;
    }
    const own = computeVisibility(element, style, above);
    const seen = isRoot ? { ...own, isVisible: true, opacity: 1 } : own;
    const hasUnseenText = isUnreadable(seen);
    let before: PageNode | null = null;
    for (const child of Array.from(element.childNodes)) {
      if (isElement(child)) {
        open.push([child, seen]);
        if (before !== null && isElement(before) && areApart(before, child)) child.before(' ');
      } else if (isTextNode(child) && hasUnseenText) remove(child);
      before = child;
    }
    if (!isRoot && isSetApart(element, style)) {
      element.before(' ');
      element.after(' ');
    }
  }
  return characters;
};

/**
 * Parses HTML without hidden elements, invisible characters and chat-template tokens. Throws
 * PageUnreadable.
 */
export const visibleDocument = (html: string, styles = ''): PageDocument =>
  visiblePart(html, styles).document;

export interface VisiblePart {
  document: PageDocument;
  hiddenCharacters: number;
}

/** `styles` are those of linked style sheets. */
export const visiblePart = (html: string, styles = ''): VisiblePart => {
  const { document, css } = parsePage(html);
  const hiddenCharacters = removeHidden({ document, css: `${styles}\n${css}` });
  cleanTexts(document.body);
  return { document, hiddenCharacters };
};

/** Neighbouring links, such as in menus, but not the parts of a link. */
const areApart = (one: PageElement, other: PageElement): boolean =>
  one.localName === 'a' &&
  other.localName === 'a' &&
  one.getAttribute('href') !== other.getAttribute('href');

/** Elements that stand apart without being known as blocks. */
const isSetApart = ({ localName }: PageElement, style: DeclaredStyle): boolean =>
  SET_APART.has(localName) ||
  /^(block|flex|grid|flow-root|list-item|table)/.test(style.get('display') ?? '');

const SET_APART = new Set(['button', 'details', 'label', 'legend', 'option', 'summary']);

const isHidden = (element: PageElement, style: DeclaredStyle): boolean => {
  const display = style.get('display');
  if (display === 'none' || style.get('content-visibility') === 'hidden') return true;
  if (element.hasAttribute('hidden') && display === undefined) return true;
  if (element.localName === 'dialog' && !element.hasAttribute('open') && !display) return true;
  if (NEVER_SHOWN.has(element.localName) || element.hasAttribute('popover')) return true;
  return isOffScreen(style) || isClipped(style);
};

const NEVER_SHOWN = new Set(['svg', 'meter', 'progress']);

const computeOpacity = (style: DeclaredStyle): number => {
  const filter = /\bopacity\(\s*([\d.]+%?)\s*\)/.exec(style.get('filter') ?? '')?.[1];
  return parseRatio(style.get('opacity')) * parseRatio(filter);
};

const parseRatio = (value = '1'): number => {
  const [, amount, percent] = /^(?:calc\(\s*)?([\d.]+)(%?)(?:\s*\))?$/.exec(value) ?? [];
  if (amount === undefined) return 1;
  return Number(amount) / (percent === '%' ? 100 : 1);
};

const isOffScreen = (style: DeclaredStyle): boolean => {
  const at = (name: string): number => parseOffset(style.get(name) ?? '');
  const isAway = SIDES.some((side) => at(side) <= -FAR_PX);
  const isPlaced = /^(absolute|fixed|relative)$/.test(style.get('position') ?? '');
  const transform = ['transform', 'translate'].map((name) => style.get(name) ?? '').join(' ');
  const isMoved = [...transform.matchAll(/-?[\d.]+(px|em|rem|vw|vh)/g)].some(
    ([length]) => Math.abs(pixels(length) ?? 0) >= FAR_PX,
  );
  const isFlat = FLAT.test(transform) || /^0*(\.0+)?(\s|$)/.test(style.get('scale') ?? '1');
  const isBeside = at('left') >= BESIDE_PX;
  return (
    (isPlaced && (isAway || isBeside)) ||
    MARGINS.some((side) => at(side) <= -FAR_PX) ||
    isMoved ||
    isFlat
  );
};

const SIDES = [
  ...['left', 'right', 'top', 'bottom', 'inset'],
  ...['inset-inline-start', 'inset-inline-end', 'inset-block-start', 'inset-block-end'],
];
const MARGINS = ['margin-left', 'margin-inline-start', 'margin-top', 'margin-block-start'];
/** Transforms with an empty area. */
const FLAT = /scale[xy]?\(\s*(0|0?\.0+)\s*[,)]|matrix\(\s*0\s*,\s*0\s*,|rotate[xy]\(\s*-?90deg/;

/** A percentage refers to the screen width. */
const parseOffset = (length: string): number => {
  const [, percent] = /^(-?[\d.]+)%$/.exec(length) ?? [];
  return pixels(percent === undefined ? length : `${percent}vw`) ?? 0;
};

const isClipped = (style: DeclaredStyle): boolean => {
  const isPlaced = /^(absolute|fixed)$/.test(style.get('position') ?? '');
  if (isPlaced && isTiny(style.get('clip') ?? '')) return true;
  if (NOTHING.test(style.get('clip-path') ?? '')) return true;
  const overflows = ['overflow', 'overflow-x', 'overflow-y'].map((name) => style.get(name) ?? '');
  if (!overflows.some((each) => /^(hidden|clip)/.test(each))) return false;
  return EXTENTS.some((name) => (pixels(style.get(name) ?? '') ?? FAR_PX) <= 1);
};

const EXTENTS = [
  ...['height', 'max-height', 'block-size', 'max-block-size'],
  ...['width', 'max-width', 'inline-size', 'max-inline-size'],
];

/** Clip paths with an empty area. */
const NOTHING =
  /^(inset\(\s*(5\d|[6-9]\d|100)%|circle\(\s*0|polygon\(\s*0[a-z%]* 0[a-z%]*\s*,\s*0|path\(\s*['"]m\s*0[ ,]+0\s*z?['"])/i;

const isTiny = (clip: string): boolean => {
  const lengths = /^rect\(([^()]*)\)$/.exec(clip)?.[1]?.match(/[^\s,]+/g) ?? [];
  const [top = 0, right = FAR_PX, bottom = FAR_PX, left = 0] = lengths.map(
    (each) => pixels(each) ?? FAR_PX,
  );
  return lengths.length === 4 && (right - left <= 1 || bottom - top <= 1);
};

const computeVisibility = (
  element: PageElement,
  style: DeclaredStyle,
  above: Visibility,
): Visibility => {
  const visibility = style.get('visibility');
  const indent = style.get('text-indent');
  const background = backgroundIn(style, above.background);
  const color =
    style.get('-webkit-text-fill-color') ??
    style.get('color') ??
    (element.localName === 'font' ? (element.getAttribute('color') ?? undefined) : undefined);
  const isInherited = color === undefined || /^(inherit|unset|currentcolor)$/.test(color);
  return {
    isVisible:
      visibility === undefined || visibility === 'inherit'
        ? above.isVisible
        : !/^(hidden|collapse)$/.test(visibility),
    opacity: above.opacity * computeOpacity(style),
    fontPx: fontIn(style, above.fontPx) * Number(style.get('zoom') ?? 1) || 0,
    color: isInherited ? above.color : parseColor(color),
    background,
    isIndentedAway:
      indent === undefined
        ? above.isIndentedAway
        : Math.abs(pixels(indent) ?? 0) >= FAR_PX || /^-?[1-9]\d{2,}%$/.test(indent),
  };
};

const backgroundIn = (style: DeclaredStyle, above: RgbaColor | null): RgbaColor | null => {
  let found = above;
  for (const name of ['background', 'background-color']) {
    const given = backgroundColor(style.get(name) ?? '');
    if (given !== 'none') found = given;
  }
  return found;
};

const fontIn = (style: DeclaredStyle, abovePx: number): number => {
  const short = /(?:^|\s)([\d.]+[a-z%]*)(?:\/\S+)?\s+\S/.exec(style.get('font') ?? '')?.[1];
  const given = style.get('font-size') ?? short;
  if (given === undefined) return abovePx;
  const [, percent] = /^([\d.]+)%$/.exec(given) ?? [];
  if (percent !== undefined) return (Number(percent) / 100) * abovePx;
  return pixels(given, abovePx) ?? 16;
};

const isUnreadable = ({
  isVisible,
  opacity,
  fontPx,
  color,
  background,
  isIndentedAway,
}: Visibility): boolean =>
  !isVisible ||
  opacity < UNSEEN_OPACITY ||
  isIndentedAway ||
  fontPx < MIN_FONT_PX ||
  (color !== null && isInvisibleColor(color, background));
