@0.3
Feature: A host of the canonical wire has a catalog of providers, leases, themes and sessions
  What an extension registers is its own, whole, and within bounds; what it asks for beyond that is refused.

  @EXT03-PROVIDER-005 @EXT03-PROVIDER-006 @EXT03-PROVIDER-007 @EXT03-PROVIDER-008 @EXT03-PROVIDER-011 @EXT03-PROVIDER-012 @EXT03-PROVIDER-013 @EXT03-PROVIDER-014 @EXT03-PROVIDER-015 @EXT03-PROVIDER-016 @EXT03-PROVIDER-017 @EXT03-PROVIDER-019 @EXT03-METHOD-011 @EXT03-MODEL-007 @EXT03-MODEL-008
  Scenario: The catalog of providers
    Given an extension with the script
      """
      select provider_catalog providers/register providers/update providers/unregister providers/complete
      on tool/call
      ask first providers/register {"provider":{"id":"peer-b","label":"B","auth":{"kind":"none"}},"models":[«model z»,«model a»]}
      wait
      ask exists providers/register {"provider":{"id":"peer-b","label":"B","auth":{"kind":"none"}},"models":[]}
      ask empty-id providers/register {"provider":{"id":"","label":"B","auth":{"kind":"none"}},"models":[]}
      ask slash-id providers/register {"provider":{"id":"a/b","label":"B","auth":{"kind":"none"}},"models":[]}
      ask slash-model providers/register {"provider":{"id":"peer-c","label":"B","auth":{"kind":"none"}},"models":[«model a/b»]}
      ask same-model providers/register {"provider":{"id":"peer-c","label":"B","auth":{"kind":"none"}},"models":[«model a»,«model a»]}
      ask no-window providers/register {"provider":{"id":"peer-c","label":"B","auth":{"kind":"none"}},"models":[«model a 0»]}
      ask negative providers/register {"provider":{"id":"peer-c","label":"B","auth":{"kind":"none"}},"models":[«model a -1»]}
      ask credential providers/register {"provider":{"id":"peer-c","label":"B","auth":{"kind":"none","credential":"x"}},"models":[]}
      ask broken providers/register {"provider":{"id":"peer-c"},"models":[]}
      ask long-label providers/register {"provider":{"id":"peer-c","label":"«repeat 43 ☃»","auth":{"kind":"none"}},"models":[]}
      ask many-models providers/update {"provider":{"id":"peer-b","label":"B","auth":{"kind":"none"}},"models":[«models 257»]}
      ask unknown-update providers/update {"provider":{"id":"peer-x","label":"B","auth":{"kind":"none"}},"models":[]}
      ask unknown-removal providers/unregister {"provider_id":"peer-x"}
      wait
      ask second providers/register {"provider":{"id":"peer-a","label":"«repeat 42 ☃»xx","auth":{"kind":"none"}},"models":[«model m 9007199254740991»]}
      wait
      ask updated providers/update {"provider":{"id":"peer-b","label":"B","auth":{"kind":"none"}},"models":[«model n»]}
      wait
      ask removed providers/unregister {"provider_id":"peer-a"}
      wait
      asks 31 p-%d providers/register {"provider":{"id":"peer-%d","label":"B","auth":{"kind":"none"}},"models":[]}
      wait
      ask one-more providers/register {"provider":{"id":"peer-more","label":"B","auth":{"kind":"none"}},"models":[]}
      wait
      say «answer»
      """
    When the host calls the tool "echo" in a session
    And the host offers the feature "provider_catalog"
    Then the extension is answered
      | request         | answer                                                                            | rule               |
      | first           | result {"provider_ids":["peer-b"],"model_ids":["peer-b/a","peer-b/z"]}            | EXT03-PROVIDER-005 |
      | first           | result {"model_ids":["peer-b/a","peer-b/z"]}                                      | EXT03-PROVIDER-017 |
      | exists          | error invalid_params                                                              | EXT03-PROVIDER-013 |
      | empty-id        | error invalid_params                                                              | EXT03-PROVIDER-012 |
      | slash-id        | error invalid_params                                                              | EXT03-PROVIDER-012 |
      | slash-model     | error invalid_params                                                              | EXT03-PROVIDER-012 |
      | same-model      | error invalid_params                                                              | EXT03-PROVIDER-012 |
      | no-window       | error invalid_params                                                              | EXT03-PROVIDER-015 |
      | negative        | error invalid_params                                                              | EXT03-MODEL-008    |
      | credential      | error invalid_params                                                              | EXT03-PROVIDER-019 |
      | broken          | error invalid_params                                                              | EXT03-METHOD-011   |
      | long-label      | error resource_exhausted                                                          | EXT03-MODEL-007    |
      | many-models     | error resource_exhausted                                                          | EXT03-PROVIDER-011 |
      | unknown-update  | error invalid_params                                                              | EXT03-PROVIDER-014 |
      | unknown-removal | error invalid_params                                                              | EXT03-PROVIDER-014 |
      | second          | result {"provider_ids":["peer-a","peer-b"],"model_ids":["peer-a/m","peer-b/a","peer-b/z"]} | EXT03-PROVIDER-008 |
      | second          | result                                                                            | EXT03-PROVIDER-016 |
      | second          | result                                                                            | EXT03-MODEL-008    |
      | updated         | result {"model_ids":["peer-a/m","peer-b/n"]}                                      | EXT03-PROVIDER-006 |
      | removed         | result {"provider_ids":["peer-b"],"model_ids":["peer-b/n"]}                       | EXT03-PROVIDER-007 |
      | p-30            | result                                                                            | EXT03-PROVIDER-011 |
      | one-more        | error resource_exhausted                                                          | EXT03-PROVIDER-011 |

  @EXT03-PROVIDER-018
  Scenario: The end of a batch
    Given an extension with the script
      """
      select provider_catalog providers/register providers/complete
      on tool/call
      say {"jsonrpc":"2.0","method":"providers/complete","params":{}}
      say {"jsonrpc":"2.0","method":"providers/complete","params":{}}
      ask behind providers/register {"provider":{"id":"peer-b","label":"B","auth":{"kind":"none"}},"models":[]}
      wait
      say «answer»
      """
    When the host calls the tool "echo" in a session
    And the host offers the feature "provider_catalog"
    Then the extension is answered
      | request | answer |
      | behind  | result |
    And the extension was asked to shut down

  @EXT03-AUTH-003 @EXT03-AUTH-004 @EXT03-AUTH-005 @EXT03-AUTH-006 @EXT03-AUTH-008
  Scenario: Leases
    Given an extension with the script
      """
      select provider_catalog providers/register provider_auth provider/auth/request provider/auth/revoke
      on tool/call
      ask registered providers/register {"provider":{"id":"peer-b","label":"B","auth":{"kind":"host_credential","subject":"peer-b"}},"models":[]}
      wait
      ask wrong-action provider/auth/request {"provider_id":"peer-b","action":"revoke","interactive":false,"scopes":["models"]}
      ask wrong-method provider/auth/revoke {"provider_id":"peer-b","action":"authorize","interactive":false,"scopes":["models"]}
      ask foreign provider/auth/request {"provider_id":"peer-x","action":"authorize","interactive":false,"scopes":["models"]}
      ask asked provider/auth/request {"provider_id":"peer-b","action":"authorize","interactive":false,"scopes":["models"]}
      wait
      ask revoked provider/auth/revoke {"provider_id":"peer-b","action":"revoke","interactive":false,"scopes":["models"]}
      wait
      say «answer»
      """
    When the host calls the tool "echo" in a session
    And the host offers the feature "provider_auth"
    Then the extension is answered
      | request      | answer                                                                                          | rule           |
      | wrong-action | error invalid_params                                                                            | EXT03-AUTH-003 |
      | wrong-method | error invalid_params                                                                            | EXT03-AUTH-003 |
      | foreign      | error capability_mismatch                                                                       | EXT03-AUTH-008 |
      | asked        | result {"status":"ready"} or result {"status":"pending"} or result {"status":"denied"} or result {"status":"unavailable"} | EXT03-AUTH-004 |
      | asked        | an answer                   | EXT03-AUTH-006 |
      | revoked      | result {"status":"revoked"} | EXT03-AUTH-004 |
    And a lease stands in answers that are ready alone

  @EXT03-THEME-003 @EXT03-THEME-004 @EXT03-THEME-007 @EXT03-THEME-008
  Scenario: Themes
    Given an extension with the script
      """
      select theme_selection theme/select
      on tool/call
      ask foreign theme/select {"namespace":"other","theme_id":"dark","role":"accent","scope":"extension"}
      ask unknown-theme theme/select {"namespace":"peer","theme_id":"no-such-theme","role":"accent","scope":"extension"}
      ask unknown-role theme/select {"namespace":"peer","theme_id":"dark","role":"no-such-role","scope":"extension"}
      ask known theme/select {"namespace":"peer","theme_id":"dark","role":"accent","scope":"extension"}
      wait
      say «answer»
      """
    When the host calls the tool "echo" in a session
    And the host offers the feature "theme_selection"
    Then the extension is answered
      | request       | answer                                                                                   | rule            |
      | foreign       | error capability_mismatch                                                                | EXT03-THEME-003 |
      | unknown-theme | error invalid_params                                                                     | EXT03-THEME-004 |
      | unknown-role  | error invalid_params                                                                     | EXT03-THEME-004 |
      | known         | result {"status":"selected"} or result {"status":"denied"} or result {"status":"unavailable"} | EXT03-THEME-007 |
      | known         | result {"status":"selected","theme_id":"dark"} or result {"status":"denied"} or result {"status":"unavailable"} | EXT03-THEME-008 |

  @EXT03-SESSION-003 @EXT03-SESSION-004 @EXT03-SESSION-007 @EXT03-SESSION-011 @EXT03-ERR-014
  Scenario: Sessions
    Given an extension with the script
      """
      select session_lifecycle session/create session/fork session/switch session/reload
      on initialize
      say «initialized»
      ask created session/create {}
      wait
      ask forked session/fork {}
      wait
      ask missing session/switch {"session_id":"none"}
      wait
      ask reloaded session/reload {}
      wait
      on tool/call
      say «answer»
      """
    When the host serves the extension in a session
    And the host offers the feature "session_lifecycle"
    Then the extension is answered
      | request  | answer               | rule              |
      | created  | result               | EXT03-SESSION-003 |
      | forked   | result               | EXT03-SESSION-004 |
      | missing  | error internal_error | EXT03-ERR-014     |
      | missing  | error internal_error | EXT03-SESSION-011 |
      | reloaded | result               | EXT03-SESSION-007 |
    And the sessions that were made are new ones
