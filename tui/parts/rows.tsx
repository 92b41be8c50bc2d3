import { Box, type DOMElement, Text } from 'ink';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { View } from '../page.js';
import type { Rect } from '../painter.js';
import { themeOf } from '../theme.js';
import { useDesk, useKnown } from './desk.js';
import { drawn, type Size } from './row.js';

interface RowsProps {
  view: View;
  /** Height in rows; if absent, all that is left. */
  height?: number;
  width?: number;
}

/**
 * A rectangle that shows a view. Ink lays it out and the painter fills it, so that changes inside
 * it need no React. Without a painter the same rows are drawn as Ink's text.
 */
export const Rows = ({ view, height, width }: RowsProps) => {
  const { painter, store } = useDesk();
  const box = useRef<DOMElement>(null);
  useLayoutEffect(
    () =>
      painter?.add({
        measure: () => rectOf(box.current),
        rows: (size) => view(store.get(), size),
      }),
    [painter, store, view],
  );
  const grows = height === undefined ? { flexGrow: 1 } : { height, flexShrink: 0 };
  return (
    <Box ref={box} width={width ?? '100%'} {...grows} flexDirection="column">
      {painter ? null : <Drawn view={view} box={box} />}
    </Box>
  );
};

/** The rows as Ink's own text. */
const Drawn = ({ view, box }: { view: View; box: React.RefObject<DOMElement | null> }) => {
  const state = useKnown((known) => known);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  useEffect(() => {
    const rect = rectOf(box.current);
    if (rect && (rect.width !== size.width || rect.height !== size.height)) setSize(rect);
  });
  const theme = themeOf('mono', false);
  return view(state, size)
    .slice(0, size.height)
    .map((row, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: a row is nothing but its place
      <Text key={at} wrap="truncate">
        {drawn(row, size.width, theme)}
      </Text>
    ));
};

/** Returns the position of an element on the screen, from the top left corner. */
const rectOf = (element: DOMElement | null): Rect | null => {
  const node = element?.yogaNode;
  if (!node) return null;
  let top = 0;
  let left = 0;
  for (let each: DOMElement | undefined = element; each; each = each.parentNode) {
    top += each.yogaNode?.getComputedTop() ?? 0;
    left += each.yogaNode?.getComputedLeft() ?? 0;
  }
  return {
    top: Math.round(top),
    left: Math.round(left),
    width: Math.round(node.getComputedWidth()),
    height: Math.round(node.getComputedHeight()),
  };
};
