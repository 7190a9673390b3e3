/** What a session asks its client: each request is put to the caller once, and answered once. */

import type { ApprovalRequestedEvent, ApprovalScope, UserQuestionAnswer, UserQuestionRequestedEvent } from "./_generated/oup-wire.js";
import {
  ERROR_APPROVAL_CANCELLED,
  ERROR_APPROVAL_NOT_PENDING,
  ERROR_UNKNOWN_APPROVAL_ID,
  ERROR_USER_QUESTION_STALE,
  ERROR_USER_QUESTION_UNKNOWN,
  METHOD_APPROVAL_RESPOND,
  METHOD_USER_QUESTION_RESPOND,
  MODELS,
} from "./_generated/oup-wire.js";
import { Disconnected, reasonOf, ServerError } from "./errors.js";
import type { OupEvent } from "./events.js";

/** What is decided, what it is remembered for, and a note for everybody who reads the session. */
export interface Decision {
  readonly decision: "approve" | "deny";
  /** Absent: this request alone. */
  readonly scope?: ApprovalScope;
  readonly note?: string;
}

/** Answers to the questions of one request, one for each, in their order. A text alone chooses the option of that label, or says it freely. */
export type Answers = readonly (string | UserQuestionAnswer)[];

/** What a callback is given beside the request. */
export interface AskContext {
  /** Aborts when nobody waits for the answer any more: somebody else gave one, or the turn ended. */
  readonly signal: AbortSignal;
}

/** Decides. Undefined leaves the request to somebody else. One that throws denies, and the note says why. */
export type OnApproval = (request: ApprovalRequestedEvent, context: AskContext) => Decision | "approve" | "deny" | undefined | Promise<Decision | "approve" | "deny" | undefined>;

/** Answers. Undefined leaves the questions to somebody else. One that throws answers each with what went wrong. */
export type OnQuestion = (request: UserQuestionRequestedEvent, context: AskContext) => Answers | undefined | Promise<Answers | undefined>;

/** The callbacks of a client or a session. */
export interface Callbacks {
  readonly onApproval?: OnApproval;
  readonly onQuestion?: OnQuestion;
}

/** Sends one answer. */
export type Respond = (method: string, params: string) => Promise<unknown>;

const SETTLED: ReadonlySet<number> = new Set(
  [ERROR_APPROVAL_NOT_PENDING, ERROR_APPROVAL_CANCELLED, ERROR_UNKNOWN_APPROVAL_ID, ERROR_USER_QUESTION_STALE, ERROR_USER_QUESTION_UNKNOWN].map(({ code }) => code),
);

/** Characters of a note that tells what a callback threw. */
const MAX_NOTE = 500;

interface Ask {
  readonly method: string;
  readonly abort: AbortController;
  /** Puts it to the caller; resolves with the params of the answer, or undefined for none. */
  readonly put: (signal: AbortSignal) => Promise<string | undefined>;
  /** The answer, once there is one. It is sent again where the server asks again: then it had not arrived. */
  answer: string | undefined;
  asked: boolean;
  sending: boolean;
}

/** The requests of one session that are not settled, as far as this client knows. */
export class Asks {
  private readonly asks = new Map<string, Ask>();
  private readonly known = new Set<string>();
  /** While events are replayed: what the server has asked in them. */
  private offered: Set<string> | undefined;

  /**
   * @param respond sends an answer; rejects with Disconnected where that is not known to have arrived
   * @param trouble told when an answer was refused
   */
  constructor(
    private readonly key: () => string,
    private readonly callbacks: Callbacks,
    private readonly respond: Respond,
    private readonly trouble: (code: string, message: string) => void,
  ) {}

  /** While events are replayed nothing is asked: what comes later may say that it was settled. */
  hold(): void {
    this.offered = new Set();
  }

  /** The replay is over. The server has asked again for everything that is pending; the rest was settled meanwhile. */
  release(): void {
    const { offered } = this;
    this.offered = undefined;
    for (const [id, ask] of [...this.asks]) {
      if (offered?.has(id) === false) {
        this.settled(id);
      } else {
        this.go(ask);
      }
    }
  }

  approval(request: ApprovalRequestedEvent): void {
    const { onApproval } = this.callbacks;
    if (onApproval !== undefined) {
      this.arrive(request.approval_id, METHOD_APPROVAL_RESPOND, async (signal) => {
        const { decision, scope, note } = await decide(onApproval, request, signal);
        return decision === undefined
          ? undefined
          : MODELS.ApprovalRespondParams.encode({
              session_id: this.key(),
              approval_id: request.approval_id,
              decision,
              ...(scope === undefined ? {} : { approval_scope: scope }),
              ...(note === undefined ? {} : { client_note: note }),
            });
      });
    }
  }

  question(request: UserQuestionRequestedEvent): void {
    const { onQuestion } = this.callbacks;
    if (onQuestion !== undefined) {
      this.arrive(request.question_id, METHOD_USER_QUESTION_RESPOND, async (signal) => {
        const answers = await answer(onQuestion, request, signal);
        return answers === undefined ? undefined : MODELS.UserQuestionRespondParams.encode({ session_id: this.key(), question_id: request.question_id, answers });
      });
    }
  }

  /** Whether the request of an event was told before: it is offered again on every open. */
  told(event: OupEvent): boolean {
    const id = event.type === "approval" ? event.request.approval_id : event.type === "question" ? event.request.question_id : undefined;
    if (id === undefined) {
      return false;
    }
    const told = this.known.has(id);
    this.known.add(id);
    return told;
  }

  /** Nobody waits for it any more. */
  settled(id: string): void {
    const ask = this.asks.get(id);
    this.asks.delete(id);
    this.known.delete(id);
    ask?.abort.abort();
  }

  /** Forgets everything: the session is closed here, or nothing of what was pending is known any more. */
  clear(): void {
    for (const id of [...this.asks.keys()]) {
      this.settled(id);
    }
  }

  private arrive(id: string, method: string, put: Ask["put"]): void {
    const ask = this.asks.get(id) ?? { method, put, abort: new AbortController(), answer: undefined, asked: false, sending: false };
    this.asks.set(id, ask);
    if (this.offered === undefined) {
      this.go(ask);
    } else {
      this.offered.add(id);
    }
  }

  private go(ask: Ask): void {
    if (ask.answer !== undefined) {
      void this.send(ask, ask.answer);
    } else if (!ask.asked) {
      ask.asked = true;
      void this.put(ask);
    }
  }

  private async put(ask: Ask): Promise<void> {
    try {
      ask.answer = await ask.put(ask.abort.signal);
    } catch (fault) {
      this.trouble("answer_refused", `the answer breaks its model and was not sent: ${reasonOf(fault)}`);
      return;
    }
    if (ask.answer !== undefined && !ask.abort.signal.aborted) {
      await this.send(ask, ask.answer);
    }
  }

  private async send(ask: Ask, params: string): Promise<void> {
    if (ask.sending) {
      return;
    }
    ask.sending = true;
    try {
      await this.respond(ask.method, params);
    } catch (fault) {
      // Where the connection ended, the server asks again if the answer was lost.
      const elsewhere = fault instanceof ServerError && SETTLED.has(fault.code);
      if (!elsewhere && !(fault instanceof Disconnected)) {
        this.trouble("answer_refused", `${ask.method} was refused: ${reasonOf(fault)}`);
      }
    } finally {
      ask.sending = false;
    }
  }
}

async function decide(onApproval: OnApproval, request: ApprovalRequestedEvent, signal: AbortSignal): Promise<Partial<Decision>> {
  try {
    const decided = await onApproval(request, { signal });
    return typeof decided === "string" ? { decision: decided } : (decided ?? {});
  } catch (fault) {
    return { decision: "deny", note: `denied because the callback of the client failed: ${reasonOf(fault)}`.slice(0, MAX_NOTE) };
  }
}

async function answer(onQuestion: OnQuestion, request: UserQuestionRequestedEvent, signal: AbortSignal): Promise<readonly UserQuestionAnswer[] | undefined> {
  try {
    const answers = await onQuestion(request, { signal });
    return answers === undefined ? undefined : answerItems(answers, request);
  } catch (fault) {
    const text = `no answer, because the callback of the client failed: ${reasonOf(fault)}`.slice(0, MAX_NOTE);
    return request.questions.map(() => ({ free_text: text }));
  }
}

/** Answers as they travel. A text is an option where the request has one of that label. */
export function answerItems(answers: Answers, request: UserQuestionRequestedEvent | undefined): readonly UserQuestionAnswer[] {
  return answers.map((one, at) => {
    if (typeof one !== "string") {
      return one;
    }
    return request?.questions[at]?.options.some(({ label }) => label === one) === true ? { selected_labels: [one] } : { free_text: one };
  });
}
