/** Limits that a schema refuses by and a form or its texts name: once, for both. */

export const PASSWORD_LENGTH = 8;
export const KEY_NAME_LENGTH = 64;
/** Of one user. */
export const MOST_KEYS = 10;
export const FACTOR_NAME_LENGTH = 64;
/** Six digits, or a recovery code; with room for spaces. */
export const CODE_LENGTH = 64;
/** In code points. */
export const AGENT_NAME_LENGTH = 64;
export const TAG_LENGTH = 32;
/** Of whoever asks for access, and of whoever answers. */
export const NOTE_LENGTH = 500;
/** Of what is looked for in conversations. */
export const SEARCH_LENGTH = 200;
export const REFERRAL_LENGTH = 20;
export const EVENT_NAME_LENGTH = 200;
export const DEMO_LENGTH = 4000;
export const WIDGET_TITLE_LENGTH = 60;
export const GREETING_LENGTH = 500;
/** Of a visitor, and of whoever answers one. */
export const VISITOR_MESSAGE_LENGTH = 4000;
export const MOST_PAYEES = 100;
/** For one payment through the gateway. */
export const MOST_PAYMENT_USD = 100;

export const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/;
/** The form of an address that can be paid; whether its capital letters are right is the service's to say. */
export const PAYEE = /^(?:0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/;
/** US dollars with at most 6 decimals. */
export const USD_AMOUNT = /^\d{1,9}(\.\d{1,6})?$/;
