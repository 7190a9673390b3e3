@v1alpha1 @websocket
Feature: WebSocket

  @OUP-SOCKET-002 @OUP-SOCKET-003 @OUP-SOCKET-004 @OUP-SOCKET-005 @OUP-SOCKET-006 @OUP-SOCKET-007 @OUP-SOCKET-008
  Scenario: Who is let in
    Then each of these upgrades is answered so:
      | rule           | header                                                                        | query                    | answer                     |
      | OUP-SOCKET-002 |                                                                               |                          | 401                        |
      | OUP-SOCKET-002 | Authorization=Bearer wrong                                                    |                          | 401                        |
      | OUP-SOCKET-002 | Authorization=Bearer «token»                                                  |                          | 101                        |
      | OUP-SOCKET-002 |                                                                               | token=«token»            | 101                        |
      | OUP-SOCKET-003 | Authorization=Bearer «token»; Origin=https://evil.example                     |                          | 403                        |
      | OUP-SOCKET-004 | Authorization=Bearer «token»; Origin=                                         |                          | 101                        |
      | OUP-SOCKET-004 | Authorization=Bearer «token»                                                  |                          | 101                        |
      | OUP-SOCKET-005 | Authorization=Bearer wrong                                                    | token=«token»            | 401                        |
      | OUP-SOCKET-005 | Sec-WebSocket-Protocol=octos-ui; Sec-WebSocket-Protocol=octos.bearer.wrong    | token=«token»            | 401                        |
      | OUP-SOCKET-006 |                                                                               | token=%«token»           | 101                        |
      | OUP-SOCKET-007 | Sec-WebSocket-Protocol=octos-ui; Sec-WebSocket-Protocol=octos.bearer.«token»  |                          | 101 subprotocol "octos-ui" |
      | OUP-SOCKET-008 | Authorization=Bearer «token»                                                  |                          | 101 subprotocol ""         |

  @OUP-SOCKET-010
  Scenario: Features are named in a header and in the query
    Given a connection
    And features that the server serves are remembered as "one, two, three"
    Then each of these upgrades is answered so:
      | rule           | header                                                            | query              | answer                              |
      | OUP-SOCKET-010 | Authorization=Bearer «token»; X-Octos-Ui-Features=«two», «one»    | ui_feature=«three» | 101 features «one» «two» «three»    |

  @OUP-SOCKET-001
  Scenario: Binary messages are passed over
    Given a connection
    Then a binary message is met well

  @OUP-SOCKET-011
  Scenario: A frame over the bound is answered and ends the connection
    Given a connection
    When the client writes {"jsonrpc":"2.0","id":"«id»","method":"config/capabilities/list","params":{"additional":"«fill max+1»"}}
    Then these come in order:
      | frame                 | that is |
      | error frame_too_large |         |
    And the connection ends with code 1009

  @OUP-SOCKET-012
  Scenario: The heart beats
    Given a connection
    Then a heartbeat comes
    And no frame breaks a rule of this scenario

  @OUP-SOCKET-022 @OUP-ERROR-013
  Scenario: The token stands in no frame
    Given a connection
    And a session
    When a turn starts that fails
    Then the turn ends errored
    And each of these calls ends so:
      | rule           | call              | params                                    | ends                        |
      | OUP-ERROR-013  | session/title.set | {"session_id":"«session»","title":""}     | error invalid_params        |
      | OUP-SOCKET-022 | nobody/knows      | {}                                        | error method_not_found      |

  @OUP-CLOSE-001
  Scenario: A turn goes on when its socket closes
    Given a connection
    And a session
    And "opened.cursor" of the answer is remembered as "start"
    When a turn starts that takes long
    Then the turn has said something
    When the connection is closed
    Given a connection "second"
    When the client calls session/open with {"session_id":"«session»","after":"«start»"}
    Then the answer is {"opened":{"session_id":"«session»"}}
    When the client calls turn/interrupt with {"session_id":"«session»","turn_id":"«turn»"}
    Then the answer is {"interrupted":true,"terminal_state":"«absent»"}

  @OUP-CLOSE-002
  Scenario: What waits for a decision goes on waiting
    Given a connection
    And a session
    When a turn starts that needs an approval
    Then the turn asks for an approval
    When the connection is closed
    Given a connection "second"
    When the client calls session/open with {"session_id":"«session»"}
    Then the event approval/requested comes once with {"approval_id":"«approval»"}
    When the client approves
    Then the turn ends completed

  @OUP-CLOSE-003
  Scenario: What was said outlives the connection
    Given a connection
    And a session
    When a turn starts that says something
    Then the turn ends completed
    When the connection is closed
    Given a connection "second"
    When the client calls session/hydrate with {"session_id":"«session»"}
    Then the answer is {"messages":["«some»",{"turn_id":"«turn»"}]}

  @OUP-SHUTDOWN-001 @OUP-SHUTDOWN-003
  Scenario: A server ends itself when it is asked to
    Given a server of its own
    And a connection
    Then these frames in one write are all answered:
      """
      {"jsonrpc":"2.0","id":"«id»","method":"server/shutdown","params":{}}
      {"jsonrpc":"2.0","id":"«id»","method":"server/shutdown","params":{}}
      """
    And the answer is {"stopping":true}
    And the connection ends
