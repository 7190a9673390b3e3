@v1alpha1
Feature: What goes on in the background

  @OUP-BACKGROUND-002
  Scenario: People are told of it in the session that owns it
    Given a connection
    And the server serves event.background_activity.v1
    And a session
    When something goes on in the background
    Then the event background/activity comes with {"session_id":"«session»"}
    And no frame breaks a rule of this scenario

  @OUP-BACKGROUND-003
  Scenario: A long text is cut and ends with a mark
    Given a connection
    And the server serves event.background_activity.v1
    And a session
    When something goes on in the background
    Then the event background/activity comes with {"text":"«cut»"}

  @OUP-BACKGROUND-004
  Scenario: Not more is told than fits into a window
    Given a connection
    And the server serves event.background_activity.v1
    And a session
    When much goes on in the background
    Then one activity says that there are more, and no other comes

  @OUP-BACKGROUND-006
  Scenario: What was told of the background is told again
    Given a connection
    And the server serves event.background_activity.v1
    And a session
    Then "opened.cursor" of the answer is remembered as "start"
    When something goes on in the background
    Then the event background/activity comes
    When the client calls session/open with {"session_id":"«session»","after":"«start»"}
    Then the event background/activity comes with {"session_id":"«session»"}

  @OUP-BACKGROUND-001 @websocket
  Scenario: Those who have not named it are not told of it
    Given a connection
    And the server serves event.background_activity.v1
    And a session
    And a connection "other" that names "approval.typed.v1"
    When the client calls session/open with {"session_id":"«session»"}
    And the client turns to connection "first"
    And something goes on in the background
    Then the event background/activity comes
    When the client turns to connection "other"
    Then no event background/activity comes
    And no frame breaks a rule of this scenario
