import { Box, type DOMElement } from 'ink';
import { useLayoutEffect, useRef } from 'react';
import type { View } from '../page.js';
import type { Rect } from '../painter.js';
import { useDesk } from './desk.js';

interface RowsProps {
  view: View;
  /** Height in rows. If absent, all remaining rows. */
  height?: number;
}

/** Rectangle that Ink lays out and the painter fills, so that changes inside it need no React. */
export const Rows = ({ view, height }: RowsProps) => {
  const { painter, store } = useDesk();
  const box = useRef<DOMElement>(null);
  useLayoutEffect(
    () =>
      painter.add({
        measure: () => computeRect(box.current),
        rows: (size) => view(store.get(), size),
      }),
    [painter, store, view],
  );
  const grows = height === undefined ? { flexGrow: 1 } : { height, flexShrink: 0 };
  return <Box ref={box} width="100%" {...grows} flexDirection="column" />;
};

/** Position on the screen, from the top left corner. */
const computeRect = (element: DOMElement | null): Rect | null => {
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
