/** A page that talks to octet: what is said streams in, tools are shown, and decisions are asked for. */

import type { ApprovalRequestedEvent, ClientState, Decision, OupEvent, Session, SessionHydrateResult, StateDetail } from "octet-oup";
import { eventsOf, websocket } from "octet-oup";

const log = element("#log", HTMLOListElement);
const input = element("#input", HTMLTextAreaElement);
const send = element("#send", HTMLButtonElement);
const stop = element("#stop", HTMLButtonElement);

/** The fragment of the address is seen by this page alone: #token=SECRET&session=KEY. */
const address = new URLSearchParams(location.hash.slice(1));
const key = address.get("session") ?? "_main:local:page";

function element<T extends Element>(selector: string, kind: new () => T): T {
  const found = document.querySelector(selector);
  if (found instanceof kind) {
    return found;
  }
  throw new Error(`the page has no ${selector}`);
}

/** A new element. Text comes from a model, so it is never read as HTML. */
function make<K extends keyof HTMLElementTagNameMap>(name: K, className: string, text = ""): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

const WORDS: Readonly<Record<ClientState, string>> = { connecting: "Connecting", open: "Connected", waiting: "Reconnecting", closed: "Disconnected" };

function showState(state: ClientState, { fault }: StateDetail): void {
  document.body.dataset["state"] = state;
  element("#state", HTMLElement).textContent = fault === undefined ? WORDS[state] : `${WORDS[state]}: ${fault.message}`;
  send.disabled = state === "closed";
}

/** One turn on the page. */
class TurnView {
  readonly item = make("li", "turn");
  private readonly segments = new Map<string, HTMLElement>();
  private readonly tools = new Map<string, { readonly box: HTMLDetailsElement; readonly status: HTMLElement; readonly output: HTMLElement }>();

  constructor() {
    this.item.ariaBusy = "true";
    log.append(this.item);
  }

  show(event: OupEvent): void {
    switch (event.type) {
      case "user_message":
        this.item.append(make("p", "user", event.text));
        break;
      case "delta":
        this.segment(event.assistant_segment_id).append(event.text);
        break;
      case "message":
        this.segment(event.assistant_segment_id).textContent = event.text;
        break;
      case "tool_start":
        this.tool(event.tool_call_id, event.name, event.arguments_preview ?? "");
        break;
      case "tool_progress":
        this.tool(event.tool_call_id).status.textContent = event.message;
        break;
      case "tool_end": {
        const { box, status, output } = this.tool(event.tool_call_id);
        box.dataset["status"] = event.status;
        status.textContent = event.status;
        output.textContent = event.error ?? event.output_preview ?? event.reason ?? "";
        break;
      }
      case "warning":
        this.item.append(make("p", "note", event.message));
        break;
      case "terminal":
        this.item.ariaBusy = "false";
        this.item.dataset["outcome"] = event.outcome;
        if (event.outcome !== "completed") {
          this.item.append(make("p", "note", [...new Set([event.outcome, event.error?.message ?? event.outcome])].join(": ")));
        }
        break;
      default: // what this page does not show
    }
  }

  private segment(id: string): HTMLElement {
    const known = this.segments.get(id) ?? make("p", "assistant");
    if (!this.segments.has(id)) {
      this.segments.set(id, known);
      this.item.append(known);
    }
    return known;
  }

  private tool(call: string, name = "", args = ""): { readonly box: HTMLDetailsElement; readonly status: HTMLElement; readonly output: HTMLElement } {
    const known = this.tools.get(call);
    if (known !== undefined) {
      return known;
    }
    const tool = { box: make("details", "tool"), status: make("span", "status", "running"), output: make("pre", "output") };
    const summary = make("summary", "");
    summary.append(make("span", "name", name), make("span", "args", args), tool.status);
    tool.box.open = true;
    tool.box.append(summary, tool.output);
    this.tools.set(call, tool);
    this.item.append(tool.box);
    return tool;
  }
}

const views = new Map<string, TurnView>();
/** The turn that runs, whoever started it. */
let running: string | undefined;

function show(event: OupEvent): void {
  const { turn_id: turn } = event;
  if (turn === undefined || event.type === "background") {
    return;
  }
  // The page moves with what is said only for someone who looks at its end.
  const { scrollHeight } = document.documentElement;
  const follows = scrollHeight - scrollY - innerHeight < 80;
  if (!views.has(turn)) {
    views.set(turn, new TurnView());
  }
  views.get(turn)?.show(event);
  if (event.type === "terminal") {
    running = running === turn ? undefined : running;
  } else if (event.type === "user_message") {
    running = turn;
  }
  stop.hidden = running === undefined;
  send.textContent = running === undefined ? "Send" : "Add";
  if (follows) {
    scrollTo({ top: document.documentElement.scrollHeight });
  }
}

/** Draws everything anew from how the session stands. */
function redraw(snapshot: SessionHydrateResult): void {
  views.clear();
  running = undefined;
  log.replaceChildren();
  for (const event of eventsOf(snapshot)) {
    show(event);
  }
}

/** Asks the person, and resolves with what was clicked. */
function ask(request: ApprovalRequestedEvent, { signal }: { readonly signal: AbortSignal }): Promise<Decision | undefined> {
  const box = make("section", "approval");
  const title = make("h2", "", request.title);
  title.id = `approval-${request.approval_id}`;
  box.setAttribute("aria-labelledby", title.id);
  const buttons = make("div", "buttons");
  box.append(title, make("pre", "body", request.body), buttons);
  (views.get(request.turn_id)?.item ?? log).append(box);
  return new Promise((resolve) => {
    const settle = (decision: Decision | undefined): void => {
      const focused = box.contains(document.activeElement);
      box.remove();
      if (focused) {
        input.focus();
      }
      resolve(decision);
    };
    const button = (className: string, text: string, decision: Decision): HTMLButtonElement => {
      const made = make("button", className, text);
      made.type = "button";
      made.addEventListener("click", () => {
        settle({ ...decision });
      });
      return made;
    };
    const approve = button("first", request.render_hints?.primary_label ?? "Approve", { decision: "approve" });
    buttons.append(approve, button("always", "Approve for this session", { decision: "approve", scope: "session" }), button("deny", request.render_hints?.secondary_label ?? "Deny", { decision: "deny" }));
    signal.addEventListener("abort", () => {
      settle(undefined); // somebody else decided, or the turn is over
    });
    if (document.activeElement === document.body || document.activeElement === send) {
      approve.focus();
    }
    box.scrollIntoView({ block: "nearest" });
  });
}

/** Keeps the page as the session is. */
async function follow(session: Session): Promise<void> {
  // The stream is taken before the snapshot is asked for, so that nothing falls between the two.
  const events = session.events();
  const snapshot = await session.hydrate();
  redraw(snapshot);
  for await (const event of events) {
    if (event.type === "gap") {
      if (event.snapshot !== undefined) {
        redraw(event.snapshot);
      }
    } else if (event.cursor === undefined || event.cursor.seq > snapshot.cursor.seq) {
      show(event);
    }
  }
}

async function start(): Promise<void> {
  const token = address.get("token");
  const client = await websocket(new URL("/", location.href), {
    ...(token === null ? {} : { token }),
    reconnect: { attempts: Infinity, firstMs: 500, maxMs: 5000 }, onState: showState, onApproval: ask,
  });
  const session = await client.open(key);
  element("#place", HTMLElement).textContent = session.opened.workspace_root ?? session.key;

  const say = async (): Promise<void> => {
    const text = input.value.trim();
    if (text === "") {
      return;
    }
    try {
      if (running === undefined) {
        (await session.turn(text)).detach(); // the stream of the session has its events too
      } else {
        await client.methods.turnSteer({ session_id: session.key, expected_turn_id: running, input: [{ kind: "text", text }] });
      }
      input.value = "";
    } catch (fault) {
      input.setCustomValidity(fault instanceof Error ? fault.message : String(fault));
      input.reportValidity();
    }
  };
  element("#form", HTMLFormElement).addEventListener("submit", (event) => {
    event.preventDefault();
    void say();
  });
  input.addEventListener("input", () => {
    input.setCustomValidity("");
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      element("#form", HTMLFormElement).requestSubmit();
    }
  });
  const halt = (): void => {
    if (running !== undefined) {
      // What became of the turn is told by its end.
      client.methods.turnInterrupt({ session_id: session.key, turn_id: running }).catch(() => undefined);
    }
  };
  stop.addEventListener("click", halt);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      halt();
    }
  });
  await follow(session);
}

start().catch((fault: unknown) => {
  showState("closed", { fault: fault instanceof Error ? fault : new Error(String(fault)) });
});
