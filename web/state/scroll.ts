import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Within so many pixels of the end a reader is at the end. */
const NEAR = 80;

const isAtEnd = (): boolean => {
  const { scrollHeight } = document.documentElement;
  return innerHeight + scrollY >= scrollHeight - NEAR;
};

const goToEnd = (): void => scrollTo(0, document.documentElement.scrollHeight);

/** The end of the page, and whether the reader is there. */
export interface EndFollowed {
  /** True if the reader is at the end, which is then followed. */
  isThere: boolean;
  /** True if something was added since the reader left the end. */
  hasNew: boolean;
  /** Goes to the end, and follows it from then on. */
  follow(): void;
}

/**
 * Hook: keeps the end of the page in view if the reader is there. `content` says what is shown: it is
 * another text when something is added.
 */
export const useEndFollowed = (content: string): EndFollowed => {
  const [isThere, setThere] = useState(true);
  const [hasNew, setNew] = useState(false);
  const stays = useRef(true);
  useEffect(() => {
    const look = (): void => {
      stays.current = isAtEnd();
      setThere(stays.current);
      if (stays.current) setNew(false);
    };
    // A keyboard that opens makes the window smaller: the end stays in view.
    const resized = (): void => (stays.current ? goToEnd() : undefined);
    addEventListener('scroll', look, { passive: true });
    addEventListener('resize', resized);
    return () => {
      removeEventListener('scroll', look);
      removeEventListener('resize', resized);
    };
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other content has another height
  useLayoutEffect(() => {
    if (stays.current) goToEnd();
    else setNew(true);
  }, [content]);
  const follow = (): void => {
    stays.current = true;
    goToEnd();
  };
  return { isThere, hasNew, follow };
};
