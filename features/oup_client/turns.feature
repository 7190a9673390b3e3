@v1alpha1
Feature: A client runs a turn

  @OUP-FRAME-002 @OUP-FRAME-004 @OUP-FRAME-006 @OUP-FRAME-013 @OUP-FRAME-037
  Scenario: What a client writes has its form
    Given a server
    When the client runs a turn that says something
    Then the client ends well
    And the client has said "One two three."
    And no frame breaks a rule of this scenario

  @OUP-FRAME-007
  Scenario: No two requests that wait have one id
    Given a server that takes its time
    When the client runs a turn that says something
    Then the client ends well
    And no frame breaks a rule of this scenario

  @OUP-SOCKET-009
  Scenario: A token among the subprotocols comes with the protocol
    Given a server
    When the client runs a turn that says something
    Then a token among the subprotocols has company

  @OUP-OPEN-014 @OUP-TURN-016
  Scenario: A client opens its session, and waits for the end of its turn
    Given a server
    When the client runs a turn that says something
    Then the client calls session/open before turn/start
    And the client has said "One two three."

  @OUP-TURN-001
  Scenario: Every turn has an id of its own
    Given a server
    When the client runs a turn that says something
    And the client runs a turn that says something
    Then no two turns have one id

  @OUP-TURN-017
  Scenario: A turn is over when its end has come
    Given a server
    When the client runs a turn that uses a tool
    Then the client ends well
    And the client has said "Three lines."

  @OUP-TURN-017
  Scenario: A turn goes on behind its first text
    Given a server that says more than one thing
    When the client runs a turn that says something
    Then the client ends well
    And the client has said "One two three."
    And the client has said "And then four."

  @OUP-TURN-016 @OUP-TURN-017
  Scenario: A turn that fails is no success
    Given a server
    When the client runs a turn that fails
    Then the client reports a failure

  @OUP-APPROVAL-020
  Scenario: A client approves by the ids of the request
    Given a server
    When the client runs a turn that needs an approval, and approve
    Then the client calls approval/respond once with {"session_id":"«session»","approval_id":"«approval»","decision":"approve"}
    And the client ends well

  @OUP-APPROVAL-020
  Scenario: A client denies where its host denies
    Given a server
    When the client runs a turn that needs an approval, and deny
    Then the client calls approval/respond once with {"approval_id":"«approval»","decision":"deny"}
    And the client ends well

  @OUP-QUESTION-010
  Scenario: All questions of a request are answered at once
    Given a server
    When the client runs a turn that asks two questions
    Then the client calls user_question/respond once with {"answers":["«any»","«any»"]}
    And the client ends well

  @OUP-CAPABILITY-008
  Scenario: A client calls what is listed
    Given a server that serves turns alone
    When the client runs a turn that says something
    Then the client ends well
    And no frame breaks a rule of this scenario
