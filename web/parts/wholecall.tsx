import type { ComponentChildren, Ref } from 'preact';
import { type CalledTool, callHost, isHttpRequestCall } from './callfacts.js';
import { Value, Values, visibleText } from './json.js';
import { Fact } from './notes.js';

interface WholeCallProps {
  call: CalledTool;
  digest: string;
  /** The line below the last argument. */
  end: Ref<HTMLParagraphElement>;
  /** Facts that come first: the requester. */
  children?: ComponentChildren;
}

/**
 * A call exactly as it would run: tool, destination and all arguments, with a line at their end.
 */
export const WholeCall = ({ call, digest, end, children }: WholeCallProps) => {
  const { url: _url, method: _method, ...others } = call.arguments;
  const isOne = isHttpRequestCall(call);
  const rest = isOne ? others : call.arguments;
  return (
    <>
      <dl class="facts">
        {children}
        <CallFacts call={call} />
      </dl>
      <p class="kind">{isOne ? 'Other arguments' : 'Arguments'}</p>
      {isOne && Object.keys(rest).length === 0 ? <p>None.</p> : <Values of={rest} isWhole />}
      {RIGHT_TO_LEFT.test(JSON.stringify(call.arguments)) && (
        <p class="note warn">
          The call contains right-to-left text. On screen, its parts may appear in a different order
          than they are sent.
        </p>
      )}
      <p class="muted" ref={end}>
        End of the arguments. Digest <code>{digest.slice(0, 12)}</code>
      </p>
    </>
  );
};

const CallFacts = ({ call }: { call: CalledTool }) => {
  const { url, method } = isHttpRequestCall(call) ? call.arguments : {};
  return (
    <>
      <Fact name="Tool">
        <strong>{visibleText(call.tool)}</strong>
      </Fact>
      <Fact name="Action">
        <strong>{visibleText(call.action)}</strong>
      </Fact>
      {method !== undefined && (
        <Fact name="Method">
          <Value of={method} isWhole />
        </Fact>
      )}
      {url !== undefined && (
        <Fact name="URL">
          <Value of={url} isWhole />
        </Fact>
      )}
      <Fact name="Destination">
        <Destination call={call} />
      </Fact>
      {call.details?.map(({ name, value }) => (
        <Fact key={`${name} ${value}`} name={visibleText(name)}>
          {visibleText(value)}
        </Fact>
      ))}
    </>
  );
};

const RIGHT_TO_LEFT =
  /\p{Script=Hebrew}|\p{Script=Arabic}|\p{Script=Syriac}|\p{Script=Thaana}|\p{Script=Nko}|\p{Script=Adlam}/u;

const Destination = ({ call }: { call: CalledTool }) => {
  const host = callHost(call);
  if (host !== null) return <strong>{visibleText(host)}</strong>;
  if (call.tool === 'email') return <>the recipients in the arguments below</>;
  return (
    <>
      {isHttpRequestCall(call)
        ? 'unknown: the URL is not valid'
        : 'determined by the tool from the arguments below'}
    </>
  );
};
