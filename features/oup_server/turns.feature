@v1alpha1
Feature: Turns

  @OUP-TURN-002 @OUP-STREAM-002 @OUP-STREAM-003 @OUP-STREAM-004 @OUP-STREAM-005 @OUP-STREAM-006 @OUP-STREAM-008 @OUP-STREAM-009 @OUP-STREAM-010 @OUP-STREAM-014
  Scenario: A turn is accepted, begins, says something and ends once
    Given a connection
    And a session
    When a turn starts that says something
    Then these come in order:
      | frame                     | that is              |
      | answer                    | {"accepted":true}    |
      | event turn/started        | {"turn_id":"«turn»"} |
      | piece user_message        | {"text":"«text»"}    |
      | piece assistant_persisted | {"text":"«text»"}    |
      | piece turn_terminal       |                      |
    And the turn ends completed
    And no frame breaks a rule of this scenario

  @OUP-TURN-002 @OUP-STREAM-010
  Scenario: A turn begins and ends
    Given a connection
    And a session
    When a turn starts that says something
    Then the event turn/started comes once with {"turn_id":"«turn»"}
    And the turn ends completed
    When a turn starts that says something
    Then the turn ends completed

  @OUP-STREAM-007
  Scenario: A call opens, goes on and ends once
    Given a connection
    And a session
    When a turn starts that uses a tool
    Then these come in order:
      | frame              | that is                                           |
      | piece tool_start   | {"tool_call_id":"«text»","name":"«text»"}         |
      | piece tool_end     | {"status":"complete"}                             |
    And the turn ends completed
    And no frame breaks a rule of this scenario

  @OUP-STREAM-012
  Scenario: What a frame shows of a call is cut
    Given a connection
    And a session
    When a turn starts that uses a tool badly
    Then the turn ends completed
    And no frame breaks a rule of this scenario

  @OUP-TURN-003 @OUP-TURN-010
  Scenario: Inputs that start no turn
    Given a connection
    And a session
    Then each of these calls ends so:
      | rule         | call       | params                                                                                                                          | ends                 |
      | OUP-TURN-003 | turn/start | {"session_id":"«session»","turn_id":"«uuid»","input":[]}                                                                        | error invalid_params |
      | OUP-TURN-003 | turn/start | {"session_id":"«session»","turn_id":"«uuid»","input":[{"kind":"text","text":"  "}]}                                             | error invalid_params |
      | OUP-TURN-010 | turn/start | {"session_id":"«session»","turn_id":"«uuid»","input":[{"kind":"text","text":"«say»"}],"origin":{"kind":"person","extra":1}} | error invalid_params |
      | OUP-TURN-003 | turn/start | {"session_id":"«session»","turn_id":"no-id","input":[{"kind":"text","text":"«say»"}]}                                  | error invalid_params |

  @OUP-TURN-004
  Scenario: Texts are trimmed and joined, and unknown kinds dropped
    Given a connection
    And a session
    When the client calls turn/start with {"session_id":"«session»","turn_id":"«uuid»","input":[{"kind":"text","text":"  one "},{"kind":"hologram","text":"no"},{"kind":"text","text":"two"}]}
    Then the answer is {"accepted":true}
    And the event projection/envelope comes with {"payload":{"type":"user_message","data":{"text":"one\ntwo"}}}

  @OUP-TURN-018
  Scenario: Turn ids of any version are taken
    Given a connection
    And a session
    When the client calls turn/start with {"session_id":"«session»","turn_id":"3b241101-e2bb-4255-8caf-4136c566a962","input":[{"kind":"text","text":"«say»"}]}
    Then the answer is {"accepted":true}

  @OUP-TURN-005 @OUP-TURN-006
  Scenario: One turn at a time
    Given a connection
    And a session
    When a turn starts that takes long
    Then the turn has said something
    And each of these calls ends so:
      | rule         | call       | params                                                                                        | ends                                                                      |
      | OUP-TURN-005 | turn/start | {"session_id":"«session»","turn_id":"«uuid»","input":[{"kind":"text","text":"Another."}]}     | error invalid_request kind turn_in_progress data {"turn_id":"«turn»"}     |
      | OUP-TURN-006 | turn/start | {"session_id":"«session»","turn_id":"«turn»","input":[{"kind":"text","text":"The same."}]}    | result {"accepted":true}                                                  |
    And no event projection/envelope comes with {"payload":{"type":"user_message"}}
    When the client calls turn/interrupt with {"session_id":"«session»","turn_id":"«turn»"}
    Then the turn ends interrupted

  @OUP-TURN-007
  Scenario: A turn id is used once
    Given a connection
    And a session
    When a turn starts that says something
    Then the turn ends completed
    When the client calls turn/start with {"session_id":"«session»","turn_id":"«turn»","input":[{"kind":"text","text":"Again."}]}
    Then the error is invalid_request of kind turn_id_in_use

  @OUP-TURN-009 @websocket
  Scenario: A turn needs no open, and its events do
    Given a connection
    And a session
    And a connection "second"
    When the client calls turn/start with {"session_id":"«session»","turn_id":"«uuid»","input":[{"kind":"text","text":"«say»"}]}
    Then the answer is {"accepted":true}
    And no event turn/started comes
    When the client turns to connection "first"
    Then the event projection/envelope comes with {"payload":{"type":"turn_terminal"}}
    When the client turns to connection "second"
    Then no event projection/envelope comes
    And no frame breaks a rule of this scenario

  @OUP-TURN-013 @OUP-TURN-014 @OUP-TURN-015 @OUP-APPROVAL-007 @OUP-APPROVAL-019
  Scenario: A turn that waits is active, and one that is stopped cancels what it asked
    Given a connection
    And a session
    When a turn starts that needs an approval
    Then the turn asks for an approval
    When the client calls turn/state/get with {"session_id":"«session»","turn_id":"«turn»"}
    Then these come in order:
      | frame  | that is              |
      | answer | {"state":"active"}   |
    When the client calls turn/interrupt with {"session_id":"«session»","turn_id":"«turn»"}
    Then these come in order:
      | frame                    | that is                                                          |
      | event approval/cancelled | {"approval_id":"«approval»","reason":"turn_interrupted"}         |
      | piece turn_terminal      | {"outcome":"interrupted"}                                        |
    And each of these calls ends so:
      | rule             | call             | params                                                                              | ends                                                                                |
      | OUP-APPROVAL-007 | approval/respond | {"session_id":"«session»","approval_id":"«approval»","decision":"approve"}          | error approval_cancelled kind approval_cancelled data {"reason":"turn_interrupted"} |

  @OUP-INTERRUPT-001 @OUP-INTERRUPT-003 @OUP-STATE-001 @OUP-STATE-003
  Scenario: What is known of a turn
    Given a connection
    And a session
    Then each of these calls ends so:
      | rule              | call           | params                                            | ends                                                     |
      | OUP-INTERRUPT-001 | turn/interrupt | {"session_id":"local:nobody","turn_id":"«uuid»"}  | error unknown_session kind unknown_session               |
      | OUP-INTERRUPT-001 | turn/interrupt | {"session_id":"«session»","turn_id":"«uuid»"}     | error unknown_turn kind unknown_turn                     |
      | OUP-STATE-001     | turn/state/get | {"session_id":"«session»","turn_id":"«uuid»"}     | result {"state":"unknown"}                               |
      | OUP-STATE-001     | turn/state/get | {"session_id":"local:nobody","turn_id":"«uuid»"}  | error unknown_session kind unknown_session               |
    When a turn starts that says something
    Then the turn ends completed
    And each of these calls ends so:
      | rule              | call           | params                                            | ends                                                                          |
      | OUP-INTERRUPT-003 | turn/interrupt | {"session_id":"«session»","turn_id":"«turn»"}     | result {"interrupted":false,"terminal_state":"completed"}                     |
      | OUP-INTERRUPT-001 | turn/interrupt | {"session_id":"«session»","turn_id":"«uuid»"}     | error unknown_turn kind unknown_turn                                          |
      | OUP-STATE-003     | turn/state/get | {"session_id":"«session»","turn_id":"«turn»"}     | result {"state":"completed","thread_id":"«turn»","committed_seqs":["«some»","«integer»"]} |

  @OUP-INTERRUPT-001 @OUP-INTERRUPT-002 @OUP-INTERRUPT-004 @OUP-INTERRUPT-005 @OUP-STATE-002
  Scenario: A turn is stopped
    Given a connection
    And a session
    When a turn starts that says something
    Then the turn ends completed
    When a turn starts that takes long
    Then the turn has said something
    And each of these calls ends so:
      | rule              | call           | params                                        | ends                                                                        |
      | OUP-STATE-002     | turn/state/get | {"session_id":"«session»","turn_id":"«turn»"} | result {"state":"active","running":"«absent»"}                              |
      | OUP-INTERRUPT-001 | turn/interrupt | {"session_id":"«session»","turn_id":"«uuid»"} | error unknown_turn kind unknown_turn                                        |
      | OUP-INTERRUPT-002 | turn/interrupt | {"session_id":"«session»","turn_id":"«turn before»"} | result {"interrupted":false,"reason":"turn_id_mismatch"}             |
      | OUP-INTERRUPT-004 | turn/interrupt | {"session_id":"«session»","turn_id":"«turn»"} | result {"interrupted":true,"ack_timeout":"«absent»"}                        |
      | OUP-INTERRUPT-005 | turn/interrupt | {"session_id":"«session»","turn_id":"«turn»"} | result {"interrupted":true}                                                 |
    And the turn ends interrupted

  @OUP-TURN-014
  Scenario: A turn that was told to stop ends interrupted
    Given a connection
    And a session
    When a turn starts that takes long
    Then the turn has said something
    When the client calls turn/interrupt with {"session_id":"«session»","turn_id":"«turn»"}
    Then the turn ends interrupted with {"error":{"code":"interrupted"}}

  @OUP-STEER-001 @OUP-STEER-005 @OUP-STEER-007
  Scenario: A steer is taken between two rounds, in the order of acceptance
    Given a connection
    And a session
    When a turn starts that needs an approval
    Then the turn asks for an approval
    And each of these calls ends so:
      | rule          | call       | params                                                                            | ends                                      |
      | OUP-STEER-001 | turn/steer | {"session_id":"«session»","input":[{"kind":"text","text":"first steer"}]}         | result {"steered":true,"turn_id":"«turn»"} |
      | OUP-STEER-001 | turn/steer | {"session_id":"«session»","input":[{"kind":"text","text":"second steer"}]}        | result {"steered":true,"turn_id":"«turn»"} |
      | OUP-STEER-007 | turn/state/get | {"session_id":"«session»","turn_id":"«turn»"}                                 | result {"state":"active"}                 |
    When the client approves
    Then the turn ends completed
    And these came in order:
      | frame              | that is                   |
      | event turn/started |                           |
      | piece user_message | {"text":"«has first steer»"}  |
      | piece user_message | {"text":"«has second steer»"} |

  @OUP-STEER-002
  Scenario: A steer without a turn starts one
    Given a connection
    And a session
    When the client calls turn/steer with {"session_id":"«session»","input":[{"kind":"text","text":"«say»"}]}
    Then the answer is {"steered":false,"turn_id":"«uuid»"}

  @OUP-STEER-003 @OUP-STEER-005 @OUP-STEER-006
  Scenario: A steer that was not taken is told to be dropped, before the end
    Given a connection
    And the server serves turn/steer
    And a session
    When a turn starts that takes long
    Then the turn has said something
    And each of these calls ends so:
      | rule          | call       | params                                                                                                     | ends                      |
      | OUP-STEER-003 | turn/steer | {"session_id":"«session»","expected_turn_id":"«uuid»","input":[{"kind":"text","text":"no"}]}               | error invalid_params      |
      | OUP-STEER-005 | turn/steer | {"session_id":"«session»","expected_turn_id":"«turn»","input":[{"kind":"text","text":"too late"}]}         | result {"steered":true}   |
      | OUP-STEER-006 | turn/interrupt | {"session_id":"«session»","turn_id":"«turn»"}                                                          | result {"interrupted":true} |
    And the turn ends interrupted
    And these came in order:
      | frame                    | that is                                                     |
      | event turn/steer_dropped | {"inputs":[{"text":"too late"}],"reason":"interrupted"}     |
      | piece turn_terminal      |                                                             |
    And no frame breaks a rule of this scenario
