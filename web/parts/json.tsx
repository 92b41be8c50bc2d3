import { useState } from 'preact/hooks';

/** Characters of a text that are shown before "Show all". */
const SHOWN = 2000;

/**
 * Shows any value: texts unchanged, records as names with values. Nothing is read as markup or a
 * link.
 */
export const Value = ({ of, isWhole = false }: { of: unknown; isWhole?: boolean }) => {
  if (typeof of === 'string') return <LongText text={of} isWhole={isWhole} />;
  if (Array.isArray(of)) {
    if (of.length === 0) return <code>[]</code>;
    return (
      <ol class="values" start={0}>
        {of.map((each, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the place is all that an item has
          <li key={at}>
            <Value of={each} isWhole={isWhole} />
          </li>
        ))}
      </ol>
    );
  }
  if (typeof of === 'object' && of !== null) return <Values of={of} isWhole={isWhole} />;
  return <code>{String(of)}</code>;
};

/** Shows the fields of a record by name. Content that needs a decision is shown in full. */
export const Values = ({ of, isWhole = false }: { of: object; isWhole?: boolean }) => {
  const fields = Object.entries(of);
  if (fields.length === 0) return <code>{'{}'}</code>;
  return (
    <dl class="values">
      {fields.map(([name, value]) => (
        <div key={name}>
          <dt>{visibleText(name)}</dt>
          <dd>
            <Value of={value} isWhole={isWhole} />
          </dd>
        </div>
      ))}
    </dl>
  );
};

/**
 * Text with its line breaks. Invisible characters are shown by their code. `prose` is for text
 * written for readers: it uses the page's font, and more of it is shown at first.
 */
export const LongText = ({
  text,
  kind = 'text',
  isWhole = false,
}: {
  text: string;
  kind?: 'text' | 'prose';
  isWhole?: boolean;
}) => {
  const [isOpened, setOpened] = useState(isWhole);
  const most = kind === 'prose' ? 10 * SHOWN : SHOWN;
  const isCut = !isOpened && text.length > most;
  return (
    <>
      <pre class={kind}>{visibleText(isCut ? text.slice(0, most) : text)}</pre>
      {isCut && (
        <button type="button" class="link" onClick={() => setOpened(true)}>
          Show all {text.length.toLocaleString()} characters
        </button>
      )}
    </>
  );
};

/**
 * Control characters, and invisible or direction-changing ones (Unicode, DerivedCoreProperties).
 * Also marks beyond six on one letter, which cover their surroundings. Emoji keep the characters
 * that form them.
 */
const HIDDEN =
  /(?<=\p{Extended_Pictographic})([\ufe0f\u200d])|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u2800]|\p{Default_Ignorable_Code_Point}|\p{Cf}|(?<=\p{M}{6})\p{M}/gu;

/** Shows each hidden character as `U+202E`, in brackets that are rare in text. */
export const visibleText = (text: string): string =>
  text.replace(HIDDEN, (character, ofEmoji: string | undefined) => {
    if (ofEmoji !== undefined) return ofEmoji;
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return `⟦U+${code}⟧`;
  });
